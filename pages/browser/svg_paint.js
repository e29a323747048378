// Numbers, texts and colours in the form of SVG.

/** A number with no more digits than are visible. */
export const round = (number) => Math.round(number * 1000) / 1000;

const ruler = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

export function measure(text, font) {
  ruler.font = font;
  return ruler.measureText(text);
}

/** The part of a text that fits, with a sign if it is cut. */
export function fitting(text, room, font) {
  const signs = [...text];
  while (signs.length && measure(`${signs.join("")}…`, font).width > room) signs.pop();
  return `${signs.join("")}…`;
}

/** A text without the characters that XML cannot hold. */
export function written(text) {
  // oxlint-disable-next-line no-control-regex -- those are what is taken out
  return text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
}

const paints = new Map();

/** Any colour of CSS as red, green and blue, and how opaque it is. */
export function paintOf(color) {
  if (!paints.has(color)) {
    ruler.clearRect(0, 0, 1, 1);
    ruler.fillStyle = "#000";
    ruler.fillStyle = color;
    ruler.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = ruler.getImageData(0, 0, 1, 1).data;
    paints.set(color, { color: `rgb(${red},${green},${blue})`, alpha: alpha / 255 });
  }
  return paints.get(color);
}

/** A colour as the attributes of a fill or a stroke. */
export function shade(kind, value) {
  const { color, alpha } = paintOf(value);
  return alpha === 1 ? { [kind]: color } : { [kind]: color, [`${kind}-opacity`]: round(alpha) };
}

/** A canvas's dots as the attributes of an image. */
export function bitmap(canvas) {
  return { href: canvas.toDataURL(), preserveAspectRatio: "none", style: "image-rendering: pixelated" };
}
