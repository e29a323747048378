import { element, fitCanvas, scrollable } from "../canvas.js";
import { channels, themeColor } from "../colors.js";
import { written } from "../numbers.js";
import { pointerIn } from "../pointing.js";
import { drawTokens } from "../strokes.js";

const LABEL = 130; // pixels for the tokens next to the map
const TOP = 84; // pixels for the tokens above the map
const LARGEST = 24; // the largest side of a cell in pixels
const SMALLEST = 9; // the least side of a cell in pixels

/**
 * @typedef {object} Steps
 * @property {string[]} read the token that each step looks from
 * @property {string[]} wrote the token that each step wrote
 * @property {string[]} source
 * @property {Float32Array} weights the weights (steps, source), from 0 to 1
 * @property {Uint32Array} colors the colours of the weights
 * @property {(step: number) => void} choose called with the step whose row was clicked
 */

/**
 * Make a map of the weights of each step over the source; its rows appear step by step.
 * @param {any} root
 * @param {Steps} steps
 */
export function makeAlignment(root, { read, wrote, source, weights, colors, choose }) {
  const count = read.length;
  const canvas = element("canvas", "clickable", "", { role: "img" });
  const reading = element("p", "reading");
  const sheet = scrollable(element("div", "sheet", [canvas]), "Alignment");
  const heading = element("p", "heading", "The alignment so far: a row for each step, over the source");
  const figure = element("div", "alignment", [heading, sheet, reading]);
  let side = LARGEST;
  let last = 0; // the last step whose row is drawn

  function fit() {
    const fills = Math.floor((figure.clientWidth - LABEL - TOP / 2) / source.length);
    side = Math.max(SMALLEST, Math.min(LARGEST, fills));
  }
  function draw(step) {
    last = step;
    const style = getComputedStyle(root);
    const context = fitCanvas(canvas, LABEL + side * source.length + TOP / 2, TOP + side * count);
    context.font = `${Math.min(13, side - 1)}px ${style.fontFamily}`;
    const rows = read.map((token, row) => (row <= step ? `${token} → ${wrote[row]}` : ""));
    drawTokens(context, { rows, columns: source, side, left: LABEL, top: TOP, color: style.color });
    for (let row = 0; row < count; row++) {
      for (let key = 0; key < source.length; key++) {
        const color = colors[Math.round(Math.min(1, weights[row * source.length + key]) * 255)];
        context.globalAlpha = row <= step ? 1 : 0.06;
        context.fillStyle = row <= step ? `rgb(${channels(color)})` : style.color;
        context.fillRect(LABEL + side * key, TOP + side * row, side - 1, side - 1);
      }
    }
    context.globalAlpha = 1;
    context.strokeStyle = themeColor(root, "accent");
    context.lineWidth = 2;
    context.strokeRect(LABEL - 1, TOP + side * step - 1, side * source.length + 1, side + 1);
    canvas.ariaLabel = `Alignment after ${step + 1} of ${count} steps`;
  }
  canvas.onpointermove = (event) => {
    const cell = cellUnder(event);
    if (!cell || cell.row > last) reading.textContent = "";
    else {
      const { row, key } = cell;
      const weight = written(weights[row * source.length + key]);
      reading.textContent = `“${read[row]}”, to write “${wrote[row]}”, looks at “${source[key]}”: ${weight}`;
    }
  };
  canvas.onclick = (event) => {
    const cell = cellUnder(event);
    if (cell) choose(cell.row);
  };
  function cellUnder(event) {
    const { x, y } = pointerIn(canvas, event);
    const row = Math.floor((y - TOP) / side);
    const key = Math.floor((x - LABEL) / side);
    const inside = row >= 0 && row < count && key >= 0 && key < source.length;
    return inside ? { row, key } : null;
  }
  return { figure, fit, draw };
}
