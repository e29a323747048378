import { begin, element, fitCanvas, onWidth, rampOf } from "../canvas.js";
import { channels, colorTable, inkOn, scaleOn, themeColor } from "../colors.js";
import { written } from "../numbers.js";
import { drawTokens } from "../strokes.js";

/**
 * @typedef {object} Row
 * @property {string} label
 * @property {string} note
 * @property {boolean} probabilities
 * @property {number} limit the absolute number at which its colours end
 * @property {string[]} texts the number in each cell as text
 */

/**
 * @typedef {object} Header
 * @property {Row[]} rows
 * @property {string[] | null} columns the names of the cells; null if the cells are dimensions
 * @property {number[]} marked the indices of framed cells
 * @property {boolean} own_scales true if each row has its own limit, which its note says
 * @property {boolean} clipped true if some numbers are beyond the limit
 * @property {import("../colors.js").Scale} diverging
 * @property {string[]} sequential
 */

const HEIGHT = 22; // the height of a row in pixels
const UPRIGHT = 36; // the height of a row whose numbers are turned upright
const SLIMMEST = 12; // the width in pixels that a cell needs for an upright number
const BESIDE = 4; // pixels of free room that a number needs beside it
const SIZES = [12, 10]; // font sizes in pixels of numbers that are not turned: the first size that fits is used
const EXACT = 5; // decimals of a number that is pointed at
const NAMED = 15; // the width in pixels that a cell needs for its slanted name
const NAMES = 64; // the height in pixels of the slanted names
const SLANT = 20; // pixels by which the last slanted name leans over the edge

/**
 * Draw vectors as rows of cells; pointing at a cell shows its number.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root } = begin(mount);
  const { rows, columns, marked } = header;
  const values = new Float32Array(array.buffer);
  const count = values.length / rows.length;
  const tables = { diverging: null, sequential: colorTable(header.sequential) };
  const runs = []; // neighbouring marked cells, which get one frame: the indices of the first and the last one
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
    canvas.onpointermove = canvas.onpointerdown = (event) => {
      const box = canvas.getBoundingClientRect();
      const place = Math.floor(((event.clientX - box.left) / box.width) * count);
      if (place < 0 || place >= count) return;
      const value = values[index * count + place];
      const exact = Number.isNaN(value) ? row.texts[place] : written(value, false, EXACT);
      reading.textContent = `${row.label}, ${name(place)}: ${exact}`;
    };
    parts.push(element("span", "label cut", row.label), canvas, element("span", "note", row.note));
    return canvas;
  });
  const legend = element("div", "legend");
  root.replaceChildren(element("div", "sheet", parts), legend, reading);

  function name(place) {
    return columns ? `“${columns[place]}”` : `dimension ${place + 1}`;
  }
  function colorOf(row, value) {
    const level = row.probabilities ? value : 0.5 + value / row.limit / 2;
    const table = row.probabilities ? tables.sequential : tables.diverging;
    return channels(table[Math.round(255 * Math.max(0, Math.min(1, level)))]);
  }

  return onWidth(root, () => {
    const style = getComputedStyle(root);
    const width = spaceFor(root) - (columns ? SLANT : 0);
    const side = width / count;
    const colors = scaleOn(root, header.diverging);
    tables.diverging = colorTable(colors);
    legend.replaceChildren(...scalesOf(header, colors));
    const fonts = SIZES.map((size) => `${size}px ${style.fontFamily}`);
    const fitting = fonts.find((font) => widest(rows, font) + BESIDE <= side);
    const upright = !fitting && side >= SLIMMEST;
    const high = upright ? UPRIGHT : HEIGHT;
    if (columns) {
      const context = fitCanvas(names, width + SLANT, side >= NAMED ? NAMES : 0);
      context.font = fonts[0];
      if (side >= NAMED) {
        const axis = { rows: [], columns, side, left: 0, top: NAMES, color: style.color };
        drawTokens(context, axis);
      }
    }
    rows.forEach((row, index) => {
      const context = fitCanvas(canvases[index], width, high);
      context.font = fitting ?? fonts.at(-1);
      context.textAlign = "center";
      context.textBaseline = "middle";
      const gap = side > 6 ? 1 : 0;
      for (let place = 0; place < count; place++) {
        const value = values[index * count + place];
        const hidden = Number.isNaN(value);
        const [red, green, blue] = hidden ? [128, 128, 128] : colorOf(row, value);
        context.globalAlpha = hidden ? 0.25 : 1;
        context.fillStyle = `rgb(${red},${green},${blue})`;
        context.fillRect(place * side, 0, side - gap, high);
        context.globalAlpha = 1;
        if (!fitting && !upright) continue;
        context.fillStyle = hidden ? style.color : inkOn(red, green, blue);
        context.save();
        context.translate((place + 0.5) * side, high / 2 + 1);
        if (upright) context.rotate(-Math.PI / 2);
        context.fillText(row.texts[place], 0, 0, (upright ? high : side) - 4);
        context.restore();
      }
      context.strokeStyle = themeColor(root, "warm");
      context.lineWidth = 2;
      for (const [first, last] of runs) {
        const wide = Math.max(4, (last - first + 1) * side - gap);
        context.strokeRect(first * side + 1, 1, wide - 2, high - 2);
      }
    });
  });
}

/** Return the width in pixels of the longest number in some rows. */
function widest(rows, font) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = font;
  const longest = rows.flatMap((row) => row.texts).reduce((one, other) => (other.length > one.length ? other : one), "");
  return context.measureText(longest).width;
}

/** Make the legend of the rows' colours, with the numbers at which they end. */
function scalesOf({ rows, own_scales, clipped, sequential }, diverging) {
  const scales = [];
  const signed = rows.find((row) => !row.probabilities);
  const add = (from, colors, to, words) => {
    const [low, high] = [from, to].map((end) => element("span", "", end));
    scales.push(element("span", "scale", [low, rampOf(colors), high, element("span", "", words)]));
  };
  if (signed) {
    const ends = own_scales ? ["−", "+"] : [written(-signed.limit), written(signed.limit, true)];
    const clips = clipped ? (own_scales ? ", clipped for a few larger numbers" : `, clipped at ±${written(signed.limit)}`) : "";
    const whose = own_scales ? ", each row up to the ± number written after it" : "";
    add(ends[0], diverging, ends[1], `blue below 0, red above${whose}${clips}`);
  }
  if (rows.some((row) => row.probabilities)) add("0", sequential, "1", "weights");
  return scales;
}

/** Return the width between labels and notes, or the whole width if these are above and below. */
function spaceFor(root) {
  const sheet = root.querySelector(".sheet");
  const style = getComputedStyle(sheet);
  if (style.display === "block") return sheet.clientWidth;
  return Math.max(60, Math.floor(parseFloat(style.gridTemplateColumns.split(" ")[1])));
}
