import { element, fitCanvas, isSaved } from "../canvas.js";
import { channels, colorTable, scaleOn } from "../colors.js";
import { written } from "../numbers.js";
import { arrowOf, pointerIn } from "../pointing.js";
import { drawTokens, widestOf } from "../strokes.js";

// Draw one head's map of weights or of differences, with cells that can be pointed at.

const LARGEST = 32; // the largest side of a cell in pixels
export const SMALLEST = 8; // the least side of a cell next to which tokens can be written
const TALLEST = 460; // pixels: a map makes its cells smaller to be no higher than this
const READABLE = 15; // a low window makes cells no smaller than this, in pixels; a narrow window may
const LABEL = 96; // the largest height in pixels of the columns' tokens
const BESIDE = 150; // the largest width in pixels of the rows' tokens, which may be two in a row
const SHARE = 0.3; // the largest share of the width for the rows' tokens
const SLANT = 28; // pixels by which the last slanted token leans over the edge
export const LEAST = 0.05; // the colours of differences do not end below this difference
const LEGIBLE = 14; // tokens next to cells of at least this side, in pixels, have their full size
const MANY = 40; // on a slide, only maps with more tokens than this have cells smaller than LEGIBLE
const FRAME = 2; // the width in pixels of each of a frame's two lines, unless cells are small
const BELOW = 1.5 * FRAME; // pixels for the frame of a cell in the last row
const APART = 9; // cells of at least this side, in pixels, have gaps between them

/** Make the elements of a map; a pointer or an arrow key on a cell calls `point(row, column)`.
 *
 * `place()` returns the row and the column of the cell that was pointed at, if any.
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
  // A mouse points by moving. A finger cannot hover, so its tap, a click event, points too.
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

// Letters are no higher than a cell, so that the tokens of neighbouring rows or columns do not overlap.
const fontOf = (root, side) =>
  `${Math.max(SMALLEST, Math.min(13, side - 1))}px ${getComputedStyle(root).fontFamily}`;

/** Return the pixels for the tokens, `left` and `top`, and the `side` of a cell, in a map of a width.
 *
 * If `smallest` allows cells that are too small for tokens next to them, the tokens get no room. The
 * map is no higher than `height` unless its cells would be too small to read; a map that `fills` a
 * slide may have smaller cells.
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
 * @property {string} [name] the name of the numbers, as in "weight"
 * @property {string} [meaning] what the colours mean, unless the title says it
 * @property {string[]} rows
 * @property {string[]} columns
 * @property {(at: number) => number} number returns the number of a cell by its index, row by row
 * @property {number} [limit]
 * @property {import("../colors.js").Scale} colors
 * @property {(number | null)[] | null} cell the row and the column of the framed cell; if one of them is null, the whole row or column of the other is framed
 * @property {boolean} [isKept] true if the frame is also in saved files
 * @property {number} left pixels for the rows' tokens
 * @property {number} top pixels for the columns' tokens
 * @property {number} side the side of a cell in pixels; next to small cells no tokens are written
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

/** Draw cells with gaps between them. */
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

/** Draw cells without gaps as one image, which is faster than cell by cell; NaN is grey. */
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

/** Frame a cell, or the whole row or column if the other index is null. */
function frame(context, { left, top, side }, cell, rows, columns) {
  const [row, column] = cell;
  if (row === null && column === null) return;
  const x = left + side * (column ?? 0);
  const y = top + side * (row ?? 0);
  const width = side * (column === null ? columns : 1);
  const height = side * (row === null ? rows : 1);
  const line = side > SMALLEST ? FRAME : 1;
  context.lineWidth = line;
  // A black line around a white one is visible on every colour.
  context.strokeStyle = "#000";
  context.strokeRect(x - 0.5 - line, y - 0.5 - line, width + 2 * line, height + 2 * line);
  context.strokeStyle = "#fff";
  context.strokeRect(x - 0.5, y - 0.5, width, height);
}
