import { begin, element, fitCanvas, onWidth } from "../canvas.js";
import { colorTable } from "../colors.js";
import { written } from "../numbers.js";
import { pointerIn, POINT_AT } from "../pointing.js";
import { overImage } from "./on_image.js";

/**
 * @typedef {object} Header
 * @property {string} image a PNG as a data URL
 * @property {number} rows the number of rows of patches
 * @property {number} columns the number of columns of patches
 * @property {number} largest the largest weight, which has the brightest colour
 * @property {number[]} weights the weight of each patch, row by row
 * @property {string[]} colors
 */

const TALLEST = 440; // the largest height of the image in pixels

/**
 * Draw the weights of an image's patches over the image.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root } = begin(mount);
  const { rows, columns, weights, largest } = header;
  const told = (at) => `Patch in row ${Math.floor(at / columns) + 1}, column ${(at % columns) + 1}: weight ${written(weights[at])}.`;
  const label = `Largest weight: ${told(weights.indexOf(Math.max(...weights)))}`;
  const canvas = element("canvas", "", "", { role: "img", "aria-label": label });
  const reading = element("p", "reading", [element("span", "hint", `${POINT_AT} a patch to read its weight.`)]);
  root.replaceChildren(canvas, element("p", "", `Colours from 0 to ${written(largest)}.`), reading);
  const paint = overImage(header.image, () => root.redraw(null));
  const size = { width: 1, height: 1 };
  canvas.onpointermove = canvas.onclick = (event) => {
    const { x, y } = pointerIn(canvas, event);
    const [row, column] = [Math.floor((y / size.height) * rows), Math.floor((x / size.width) * columns)];
    if (row >= 0 && column >= 0 && row < rows && column < columns) reading.textContent = told(row * columns + column);
  };
  return onWidth(root, (width) => {
    const painted = paint(array, rows, columns, colorTable(header.colors));
    if (!painted) return;
    const scale = Math.min(width / painted.width, TALLEST / painted.height);
    Object.assign(size, { width: painted.width * scale, height: painted.height * scale });
    const context = fitCanvas(canvas, size.width, size.height);
    context.drawImage(painted, 0, 0, size.width, size.height);
  });
}
