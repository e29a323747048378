import { begin, channels, colorTable, drawTokens, element, fitCanvas, inkOn, onWidth, themeColor } from "../canvas.js";

/**
 * @typedef {object} Row
 * @property {string} label
 * @property {string} note
 * @property {boolean} probabilities
 * @property {number} limit
 * @property {string[]} texts
 */

/**
 * @typedef {object} Header
 * @property {Row[]} rows
 * @property {string[] | null} columns names of the cells; without them they are dimensions
 * @property {number[]} marked places that are framed
 * @property {string[]} diverging
 * @property {string[]} sequential
 */

const HEIGHT = 22; // pixels of a row
const READABLE = 46; // pixels that a cell needs for its number
const NAMED = 15; // pixels that a cell needs for its slanted name
const NAMES = 64; // pixels for the slanted names

/**
 * Draw vectors as rows of cells; pointing at a cell reads its number.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root } = begin(mount);
  const { rows, columns, marked } = header;
  const values = new Float32Array(array.buffer);
  const count = values.length / rows.length;
  const diverging = colorTable(header.diverging);
  const sequential = colorTable(header.sequential);
  const runs = []; // of marked places that stand side by side, each framed as one
  for (const place of [...marked].sort((a, b) => a - b)) {
    if (runs.at(-1)?.[1] === place - 1) runs.at(-1)[1] = place;
    else runs.push([place, place]);
  }
  const reading = element("p", "reading", "", { "aria-live": "polite" });
  const names = element("canvas", "names", "", { "aria-hidden": "true" });
  const parts = columns ? [element("span", ""), names, element("span", "")] : [];
  const canvases = rows.map((row, index) => {
    const largest = values
      .subarray(index * count, (index + 1) * count)
      .reduce((best, value, at, all) => (Math.abs(value) > Math.abs(all[best]) ? at : best), 0);
    const canvas = element("canvas", "", "", {
      role: "img",
      "aria-label": `${row.label}: ${count} numbers, largest ${row.texts[largest]} at ${name(largest)}`,
    });
    canvas.onpointermove = (event) => {
      const box = canvas.getBoundingClientRect();
      const place = Math.floor(((event.clientX - box.left) / box.width) * count);
      if (place < 0 || place >= count) return;
      reading.textContent = `${row.label}, ${name(place)}: ${row.texts[place]}`;
    };
    parts.push(element("span", "label", row.label), canvas, element("span", "note", row.note));
    return canvas;
  });
  root.replaceChildren(element("div", "sheet"), reading);
  root.firstChild.append(...parts);

  function name(place) {
    return columns ? `“${columns[place]}”` : `dimension ${place}`;
  }
  function colorOf(row, value) {
    const level = row.probabilities ? value : 0.5 + value / row.limit / 2;
    const table = row.probabilities ? sequential : diverging;
    return channels(table[Math.round(255 * Math.max(0, Math.min(1, level)))]);
  }

  return onWidth(root, () => {
    const style = getComputedStyle(root);
    const width = spaceFor(root);
    const side = width / count;
    if (columns) {
      const context = fitCanvas(names, width, side >= NAMED ? NAMES : 0);
      context.font = `12px ${style.fontFamily}`;
      if (side >= NAMED) {
        const axis = { rows: [], columns, side, left: 0, top: NAMES, color: style.color };
        drawTokens(context, axis);
      }
    }
    rows.forEach((row, index) => {
      const context = fitCanvas(canvases[index], width, HEIGHT);
      context.font = `12px ${style.fontFamily}`;
      context.textAlign = "center";
      context.textBaseline = "middle";
      const gap = side > 6 ? 1 : 0;
      for (let place = 0; place < count; place++) {
        const value = values[index * count + place];
        const hidden = Number.isNaN(value);
        const [red, green, blue] = hidden ? [128, 128, 128] : colorOf(row, value);
        context.globalAlpha = hidden ? 0.25 : 1;
        context.fillStyle = `rgb(${red},${green},${blue})`;
        context.fillRect(place * side, 0, side - gap, HEIGHT);
        context.globalAlpha = 1;
        if (side < READABLE) continue;
        context.fillStyle = hidden ? style.color : inkOn(red, green, blue);
        context.fillText(row.texts[place], (place + 0.5) * side, HEIGHT / 2 + 1, side - 4);
      }
      context.strokeStyle = themeColor(root, "warm");
      context.lineWidth = 2;
      for (const [first, last] of runs) {
        const wide = Math.max(4, (last - first + 1) * side - gap);
        context.strokeRect(first * side + 1, 1, wide - 2, HEIGHT - 2);
      }
    });
  });
}

/** The width left between the labels and the notes, or all of it if they stand above and below. */
function spaceFor(root) {
  const sheet = root.querySelector(".sheet");
  const style = getComputedStyle(sheet);
  if (style.display === "block") return sheet.clientWidth;
  return Math.max(60, Math.floor(parseFloat(style.gridTemplateColumns.split(" ")[1])));
}
