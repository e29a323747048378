import { element, fitCanvas, isSaved } from "../canvas.js";
import { channels, colorTable, scaleOn } from "../colors.js";
import { written } from "../numbers.js";
import { arrowOf, pointerIn } from "../pointing.js";
import { drawTokens, widestOf } from "../strokes.js";

// An enlarged map of a head, of weights or of differences, read cell by cell.

const LARGEST = 32; // pixels of a cell's side
export const SMALLEST = 8;
const TALLEST = 460; // pixels of a map whose cells can be smaller
const READABLE = 15; // pixels of a cell's side, below which the height does not shrink it
const LABEL = 96; // most pixels for the tokens above
const BESIDE = 150; // for the tokens of the rows, which may be two each
const SHARE = 0.3; // the largest share of the width for the same
const SLANT = 28; // pixels that the last slanted token leans over the edge
export const LEAST = 0.05; // the smallest difference that takes the full colour
const LEGIBLE = 14; // pixels of a cell's side from which on tokens have their full size
const MANY = 40; // tokens from which on cells may be smaller than that on a slide
const FRAME = 2; // pixels of each of a frame's two lines, unless cells are small
const BELOW = 1.5 * FRAME; // pixels for the frame of a cell in the last row
const APART = 9; // pixels of a cell's side from which on cells have gaps

/** The elements of a map; `point(row, column)` is called on pointing or moving by arrow keys.
 *
 * `place()` returns the row and the column that are read out, or nothing.
 */
export function makeMap(diverging, point, place) {
  const caption = element("figcaption", "");
  const canvas = element("canvas", "map", "", { role: "img", tabindex: "0" });
  const [quantity, low, high, meaning] = ["", "", "", ""].map(() => element("span"));
  const ramp = element("span", "ramp");
  const scale = [quantity, element("span", "ends", [low, ramp, high]), meaning];
  const figure = element("figure", "sheet-of-map", [
    caption,
    element("div", "sheet", [canvas]),
    element("div", "scale", scale, { "aria-hidden": "true" }),
  ]);
  const ends = [low, high];
  const map = { diverging, figure, caption, canvas, quantity, ends, ramp, meaning, left: 0, top: 0, side: 1 };
  // A finger points by a tap.
  canvas.onpointermove = canvas.onclick = (event) => {
    const { x, y } = pointerIn(canvas, event);
    point(Math.floor((y - map.top) / map.side), Math.floor((x - map.left) / map.side));
  };
  canvas.onkeydown = (event) => {
    const arrow = arrowOf(event);
    if (!arrow) return;
    event.preventDefault();
    const [row, column] = place() ?? [null, null];
    if (row === null || column === null) point(row ?? 0, column ?? 0);
    else point(row + arrow.down, column + arrow.across);
  };
  return map;
}

const fontOf = (root, side) =>
  `${Math.max(9, Math.min(13, side - 1))}px ${getComputedStyle(root).fontFamily}`;

/** The room that the tokens take, and the side of a cell, in a map of some pixels of width.
 *
 * If cells may be smaller than tokens can be written, there is no room for tokens then. The map
 * keeps to the `height`, as far as cells can still be read; a map that `fills` it, on a slide,
 * always does.
 */
export function fitMap(root, rows, columns, width, { largest = LARGEST, smallest = SMALLEST, fills = false, height = Infinity } = {}) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = fontOf(root, LARGEST);
  const left = Math.min(Math.max(LABEL, Math.min(BESIDE, SHARE * width)), widestOf(context, rows) + 14);
  const top = Math.min(LABEL, widestOf(context, columns) * 0.9 + 22);
  const widestCell = (width - left - SLANT) / columns.length;
  const tallestCell = (height === Infinity ? TALLEST : height - top - BELOW) / rows.length;
  if (fills && Math.max(rows.length, columns.length) <= MANY) {
    return { left, top, side: Math.max(LEGIBLE, Math.floor(Math.min(widestCell, tallestCell))) };
  }
  const fits = Math.floor(Math.min(widestCell, Math.max(tallestCell, fills ? 0 : READABLE)));
  if (fits >= SMALLEST || smallest === SMALLEST) return { left, top, side: Math.max(SMALLEST, Math.min(largest, fits)) };
  const bare = Math.min((width - SLANT) / columns.length, TALLEST / rows.length);
  return { left: 0, top: 0, side: Math.max(smallest, bare < 2 ? bare : Math.floor(Math.min(SMALLEST - 1, bare))) };
}

/**
 * @typedef {object} Drawing
 * @property {string} title
 * @property {string} [name] of the numbers
 * @property {string} [meaning] meaning of the colours, if not in the title
 * @property {string[]} rows
 * @property {string[]} columns
 * @property {(at: number) => number} number of each cell, row by row: from 0, or minus, to the limit
 * @property {number} [limit]
 * @property {import("../colors.js").Scale} colors
 * @property {(number | null)[] | null} cell to frame: its row and column, or the whole of one of them
 * @property {boolean} [isKept] whether files have the frame, too
 * @property {number} left pixels for the rows' tokens
 * @property {number} top pixels for the columns' tokens
 * @property {number} side pixels of a cell; tokens have no room next to small ones
 * @property {(context: any, x: number, y: number, side: number, color: string) => void} [without]
 * draws a cell that is NaN
 */

/**
 * Draw the numbers of all cells.
 * @param {any} map
 * @param {Drawing} drawing
 */
export function drawMap(map, drawing) {
  const { title, rows, columns, number, limit = 1, cell, left, top, side } = drawing;
  const { name = map.diverging ? "difference" : "weight", without = hatch, isKept = false } = drawing;
  const { meaning = map.diverging ? "blue below 0, red above" : "" } = drawing;
  Object.assign(map, { left, top, side });
  Object.assign(map.canvas.dataset, { left, top, side });
  const context = fitCanvas(map.canvas, left + side * columns.length + SLANT, top + side * rows.length + BELOW);
  const { color } = getComputedStyle(map.canvas);
  context.font = fontOf(map.canvas, side);
  if (side >= SMALLEST) drawTokens(context, { rows, columns, side, left, top, color });
  const colors = scaleOn(map.canvas, drawing.colors);
  const table = colorTable(colors);
  const colorOf = (value) => {
    const part = map.diverging ? (value / limit + 1) / 2 : value / limit;
    return table[Math.round(Math.max(0, Math.min(1, part)) * 255)];
  };
  const cells = { rows: rows.length, columns: columns.length, number, colorOf, left, top, side };
  if (side < APART) drawDots(context, cells);
  else drawCells(context, { ...cells, without: (x, y) => without(context, x, y, side - 1, color) });
  if (cell && (isKept || !isSaved())) frame(context, map, cell, rows.length, columns.length);
  map.caption.textContent = title;
  map.canvas.ariaLabel = `${title}: ${extremeOf(map, { name, number, rows, columns })}`;
  map.quantity.textContent = name;
  map.meaning.textContent = meaning;
  map.ends[0].textContent = map.diverging ? written(-limit, true) : "0";
  map.ends[1].textContent = map.diverging ? written(limit, true) : limit === 1 ? "1" : written(limit);
  map.ramp.style.background = `linear-gradient(to right, ${colors.join(",")})`;
}

/** Cells with gaps between them. */
function drawCells(context, { rows, columns, number, colorOf, left, top, side, without }) {
  for (let at = 0; at < rows * columns; at++) {
    const value = number(at);
    const [x, y] = [left + side * (at % columns), top + side * Math.floor(at / columns)];
    if (Number.isNaN(value)) {
      without(x, y);
      continue;
    }
    context.fillStyle = `rgb(${channels(colorOf(value))})`;
    context.fillRect(x, y, side - 1, side - 1);
  }
}

/** Cells without gaps, in one go: many would take long one by one. NaN is grey. */
function drawDots(context, { rows, columns, number, colorOf, left, top, side }) {
  const image = new ImageData(columns, rows);
  const dots = new Uint32Array(image.data.buffer);
  for (let at = 0; at < dots.length; at++) {
    const value = number(at);
    dots[at] = Number.isNaN(value) ? 0x2e808080 : colorOf(value);
  }
  const small = element("canvas", "", "", { width: columns, height: rows });
  small.getContext("2d").putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, left, top, side * columns, side * rows);
}

function extremeOf(map, { name, number, rows, columns }) {
  let extreme = null;
  for (let at = 0; at < rows.length * columns.length; at++) {
    const size = Math.abs(number(at));
    if (!Number.isNaN(size) && (extreme === null || size > Math.abs(number(extreme)))) extreme = at;
  }
  if (extreme === null) return `no ${name}`;
  const [query, key] = [rows[Math.floor(extreme / columns.length)], columns[extreme % columns.length]];
  const which = map.diverging ? "furthest from 0:" : "largest";
  return `${which} ${name} ${written(number(extreme), map.diverging)}, from “${query}” to “${key}”`;
}

/** Fill a cell that has no number with slanted strokes. */
function hatch(context, x, y, side, color) {
  context.globalAlpha = 0.35;
  context.strokeStyle = color;
  context.lineWidth = 1;
  context.beginPath();
  for (let at = 4; at < 2 * side; at += 5) {
    context.moveTo(x + Math.max(0, at - side), y + Math.min(at, side));
    context.lineTo(x + Math.min(at, side), y + Math.max(0, at - side));
  }
  context.stroke();
  context.globalAlpha = 1;
}

/** Frame a cell, or all of its row or column if it has only one of them. */
function frame(context, { left, top, side }, cell, rows, columns) {
  const [row, column] = cell;
  if (row === null && column === null) return;
  const x = left + side * (column ?? 0);
  const y = top + side * (row ?? 0);
  const width = side * (column === null ? columns : 1);
  const height = side * (row === null ? rows : 1);
  const line = side > SMALLEST ? FRAME : 1;
  context.lineWidth = line;
  // Black around white is seen on every colour.
  context.strokeStyle = "#000";
  context.strokeRect(x - 0.5 - line, y - 0.5 - line, width + 2 * line, height + 2 * line);
  context.strokeStyle = "#fff";
  context.strokeRect(x - 0.5, y - 0.5, width, height);
}
