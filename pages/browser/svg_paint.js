// Turns numbers, texts and colours into values of SVG.

/** Round a number to three decimals: further digits make no visible difference. */
export const round = (number) => Math.round(number * 1000) / 1000;

const ruler = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

export function measure(text, font) {
  ruler.font = font;
  return ruler.measureText(text);
}

/** Cut a text that is too long, so that it fits into `room` pixels with “…” at its end. */
export function fitting(text, room, font) {
  const signs = [...text];
  while (signs.length && measure(`${signs.join("")}…`, font).width > room) signs.pop();
  return `${signs.join("")}…`;
}

/** Return a text in which characters that XML does not allow are replaced. */
export function written(text) {
  // oxlint-disable-next-line no-control-regex -- these characters are replaced
  return text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
}

const paints = new Map();

/** Return any CSS colour as `rgb(...)`, and its opacity as `alpha`. */
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

/** Return a colour as the attributes of a fill or a stroke in SVG. */
export function shade(kind, value) {
  const { color, alpha } = paintOf(value);
  return alpha === 1 ? { [kind]: color } : { [kind]: color, [`${kind}-opacity`]: round(alpha) };
}

/** Return the dots of a canvas as the attributes of an image in SVG. */
export function bitmap(canvas) {
  return { href: canvas.toDataURL(), preserveAspectRatio: "none", style: "image-rendering: pixelated" };
}
