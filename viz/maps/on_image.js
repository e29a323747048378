// Paints weights over the image whose patches they belong to.

const SHARE = 0.4; // the share of the grey image in the colour of each pixel; the rest is the colour of the weight

/**
 * Load an image, and call `loaded` when it is there.
 *
 * Returns a function that paints levels [rows, columns], weights from 0 to 255, over the image; it
 * returns the canvas, or null while the image is being loaded.
 * @param {string} address
 * @param {() => void} loaded
 */
export function overImage(address, loaded) {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  let dots = null;
  const image = new Image();
  image.onload = () => {
    [canvas.width, canvas.height] = [image.width, image.height];
    context.drawImage(image, 0, 0);
    dots = context.getImageData(0, 0, image.width, image.height);
    loaded();
  };
  image.src = address;
  return (levels, rows, columns, colors) => {
    if (!dots) return null;
    const { width, height, data } = dots;
    const bytes = new Uint8Array(colors.buffer);
    const painted = context.createImageData(width, height);
    for (let dot = 0; dot < width * height; dot++) {
      const row = Math.floor((Math.floor(dot / width) * rows) / height);
      const color = 4 * levels[row * columns + Math.floor(((dot % width) * columns) / width)];
      const grey = (data[4 * dot] + data[4 * dot + 1] + data[4 * dot + 2]) / 3;
      for (let channel = 0; channel < 3; channel++) {
        painted.data[4 * dot + channel] = SHARE * grey + (1 - SHARE) * bytes[color + channel];
      }
      painted.data[4 * dot + 3] = 255;
    }
    context.putImageData(painted, 0, 0);
    return canvas;
  };
}
