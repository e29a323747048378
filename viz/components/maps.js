// One head's map in large, of weights or of differences, read cell by cell.

const LARGEST = 32; // pixels of a cell's side
const SMALLEST = 8;
const TALLEST = 460; // pixels of a map, where its cells can be smaller
const LABEL = 96; // most pixels for the tokens on either side
const SLANT = 28; // pixels that the last slanted token leans over the edge
const LEAST = 0.05; // the smallest difference that takes the full colour

/** The elements of a map; `point(row, column)` is called where one points or goes by the arrows.
 *
 * `place()` tells the row and the column that are read out, or nothing.
 */
function makeMap(diverging, point, place) {
  const figure = element("figure", "sheet-of-map");
  const caption = element("figcaption", "");
  const canvas = element("canvas", "map", "", { role: "img", tabindex: "0" });
  const sheet = element("div", "sheet");
  sheet.append(canvas);
  const ends = [element("span", ""), element("span", "")];
  const ramp = element("span", "ramp");
  const scale = element("div", "scale", "", { "aria-hidden": "true" });
  scale.append(ends[0], ramp, ends[1]);
  figure.append(caption, sheet, scale);
  const map = { diverging, figure, caption, canvas, ends, ramp, left: 0, top: 0, side: 1 };
  canvas.onpointermove = (event) => {
    const { x, y } = pointerIn(canvas, event);
    point(Math.floor((y - map.top) / map.side), Math.floor((x - map.left) / map.side));
  };
  canvas.onkeydown = (event) => {
    const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!by) return;
    event.preventDefault();
    const [row, column] = place() ?? [null, null];
    if (row === null || column === null) point(row ?? 0, column ?? 0);
    else point(row + by[0], column + by[1]);
  };
  return map;
}

const fontOf = (root, side) =>
  `${Math.max(9, Math.min(13, side - 1))}px ${getComputedStyle(root).fontFamily}`;

/** The room that the tokens take, and the side of a cell, where a map gets some pixels of width. */
function fitMap(root, rows, columns, width) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = fontOf(root, LARGEST);
  const widest = (tokens) => Math.max(...tokens.map((token) => context.measureText(token).width));
  const left = Math.min(LABEL, widest(rows) + 14);
  const top = Math.min(LABEL, widest(columns) * 0.9 + 22);
  const tallest = Math.max(TALLEST / rows.length, 16);
  const fits = Math.floor(Math.min((width - left - SLANT) / columns.length, tallest));
  return { left, top, side: Math.max(SMALLEST, Math.min(LARGEST, fits)) };
}

/** Draw the numbers of all cells, row by row: `number(at)` from 0, or minus, to plus `limit`.
 *
 * What is NaN is hatched. The cell [row, column] is framed, or the whole of one that has no other.
 */
function drawMap(map, { title, rows, columns, number, limit = 1, colors, cell, left, top, side }) {
  Object.assign(map, { left, top, side });
  const context = fitCanvas(map.canvas, left + side * columns.length + SLANT, top + side * rows.length);
  const { color } = getComputedStyle(map.canvas);
  context.font = fontOf(map.canvas, side);
  drawTokens(context, { rows, columns, side, left, top, color });
  const table = colorTable(colors);
  let extreme = null;
  for (let at = 0; at < rows.length * columns.length; at++) {
    const value = number(at);
    const [x, y] = [left + side * (at % columns.length), top + side * Math.floor(at / columns.length)];
    if (Number.isNaN(value)) {
      hatch(context, x, y, side - 1, color);
      continue;
    }
    if (extreme === null || Math.abs(value) > Math.abs(number(extreme))) extreme = at;
    const part = map.diverging ? (value / limit + 1) / 2 : value / limit;
    context.fillStyle = `rgb(${channels(table[Math.round(Math.max(0, Math.min(1, part)) * 255)])})`;
    context.fillRect(x, y, side - 1, side - 1);
  }
  if (cell) frame(context, map, cell, rows.length, columns.length);
  map.caption.textContent = title;
  map.canvas.ariaLabel = `${title}: ${extremeOf(map, number, extreme, rows, columns)}`;
  map.ends[0].textContent = map.diverging ? written(-limit, true) : "0";
  map.ends[1].textContent = map.diverging ? written(limit, true) : String(limit);
  map.ramp.style.background = `linear-gradient(to right, ${colors.join(",")})`;
}

function extremeOf(map, number, extreme, rows, columns) {
  const kind = map.diverging ? "difference" : "weight";
  if (extreme === null) return `no ${kind}`;
  const [query, key] = [rows[Math.floor(extreme / columns.length)], columns[extreme % columns.length]];
  return `largest ${kind} ${written(number(extreme), map.diverging)}, from “${query}” to “${key}”`;
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

/** Frame a cell, or all of its row or column where it has only one of them. */
function frame(context, { left, top, side }, [row, column], rows, columns) {
  if (row === null && column === null) return;
  const x = left + side * (column ?? 0);
  const y = top + side * (row ?? 0);
  const width = side * (column === null ? columns : 1);
  const height = side * (row === null ? rows : 1);
  // Black around white is seen on every colour.
  context.lineWidth = 1;
  context.strokeStyle = "#000";
  context.strokeRect(x - 1.5, y - 1.5, width + 2, height + 2);
  context.strokeStyle = "#fff";
  context.strokeRect(x - 0.5, y - 0.5, width, height);
}

/** A number to some decimals, on demand with its sign. */
function written(number, signed = false, digits = 3) {
  const text = Math.abs(number).toFixed(digits);
  const sign = Number(text) === 0 ? "" : number < 0 ? "\u2212" : signed ? "+" : "";
  return sign + text;
}
