import { begin, buttonOf, element, fitCanvas, letterScale, onWidth, roomOf } from "../canvas.js";
import { colorTable, themeColor } from "../colors.js";
import { written } from "../numbers.js";
import { moveFocus, onPointing } from "../pointing.js";
import { overImage } from "./on_image.js";

/**
 * @typedef {object} Header
 * @property {string[]} queries
 * @property {string[]} keys
 * @property {[number, number]} cells the rows and columns of each map in the data
 * @property {string[]} rows the names of the layers
 * @property {string[]} columns the names of the heads
 * @property {[number, number] | null} selected a layer and a column, from 0
 * @property {boolean} linked true if a `selected_map` sets the selected map and sends the clicked one
 * @property {number} group the number of neighbouring heads that share keys
 * @property {number[]} off the indices of the maps whose heads are switched off
 * @property {[number, number, number][]} strongest the query, the key and the value of each map's largest weight
 * @property {string[]} colors
 * @property {string} [image] a PNG as a data URL; the cells of a map are the patches of this image
 */

const TOP = 20; // the height of the column labels in pixels
const UPRIGHT = 32; // the height of column labels that are turned upright
const LEFT = 24; // the width of the row labels in pixels
const EDGE = 4; // pixels for the outline of the maps at the edges
const GAP = 5; // pixels between maps
const APART = 8; // additional pixels between heads that do not share keys
const DENSE = 2; // pixels between maps if more than MANY are in a row
const MANY = 16;
const NARROW = 30; // a column narrower than this, in pixels, has a smaller label
const NARROWER = 20; // a column narrower than this, in pixels, has an upright label
const SMALLEST = 13; // the least side of a map in pixels; if there is no room for it, the maps scroll
const UNDER = 64; // pixels for the words under the maps on a slide
const WIDEST = 2.2; // the largest ratio of a map's width to its height on a slide
const FULL_HEIGHT = 210; // a grid of few layers grows to this height in pixels

/**
 * Draw every map on one canvas, with a button over each; unchanged maps are not drawn again.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root, answer } = begin(mount);
  const { selected, linked, ...rest } = header;
  const words = JSON.stringify(rest);
  root.pick = linked ? (place) => selection.pick?.(place) : answer;
  if (root.words === words && root.array.every((level, at) => level === array[at])) {
    root.observer.observe(root);
  } else {
    Object.assign(root, { words, array });
    build(root, rest, array);
  }
  root.select(selected);
  const leave = linked && follow(root);
  return () => {
    if (leave) leave();
    root.observer.disconnect();
  };
}

// Shared by the linked grids of a page, and set by its `selected_map`: the place of the selected map,
// and the function that a grid calls with the map that was clicked.
const selection = { place: null, pick: null, grids: new Set() };

/** Call `follower.select` with each map that a `selected_map` selects; return a function that stops this. */
export function follow(follower) {
  selection.grids.add(follower);
  if (selection.pick) follower.select(selection.place);
  return () => selection.grids.delete(follower);
}

/** Select a map in the linked grids, and have them call `pick` with a clicked map; without arguments, undo both. */
export function link(place = null, pick = null) {
  Object.assign(selection, { place, pick });
  for (const grid of selection.grids) grid.select(place);
}

/** Fill the root with the maps, and give it the function `select`. */
function build(root, header, array) {
  const { queries, keys, rows, columns, group, off, strongest } = header;
  const apart = (column) => (group > 1 ? APART * Math.floor(column / group) : 0);
  const colors = colorTable(header.colors);
  const paint = header.image ? overImage(header.image, () => root.redraw(null)) : null;
  const focused = root.querySelector(".map:focus")?.dataset.index;

  const canvas = element("canvas", "", "", { "aria-hidden": "true" });
  const reading = element("p", "reading");
  const note = element("p", "note");
  const corner = element("span", "label corner", "head");
  const rowLabels = rows.map((text) => element("span", "label", text.replace("layer ", "L")));
  const columnLabels = columns.map((text) =>
    element("span", "label column", text.replace("head ", "")),
  );
  const buttons = strongest.map(([query, key, weight], index) => {
    const row = Math.floor(index / columns.length);
    const column = index % columns.length;
    const isOff = off.includes(index);
    const text =
      `${rows[row]}, ${columns[column]}${isOff ? ", switched off" : ""}: largest weight ` +
      `${written(weight)}, ${paint ? `at ${queries[query]}, ${keys[key]}` : `from “${queries[query]}” to “${keys[key]}”`}`;
    const named = { "aria-label": text, "data-index": index };
    const button = buttonOf(`map small-map${isOff ? " off" : ""}`, "", () => root.pick([row, column]), named);
    onPointing(button, () => (reading.textContent = text));
    button.onkeydown = (event) => moveFocus(event, buttons, columns.length);
    return button;
  });
  const whole = element("div", "whole", [canvas, ...columnLabels, ...buttons]);
  const sheet = element("div", "sheet", [whole]);
  const frame = element("div", "frame", [corner, ...rowLabels, sheet]);
  root.replaceChildren(frame, reading, note);
  if (focused !== undefined) buttons[focused]?.focus();

  root.select = (place) => {
    const [row, column] = place ?? [0, 0];
    buttons.forEach((button, index) => {
      const chosen = index === row * columns.length + column;
      button.ariaPressed = String(chosen && place !== null);
      button.tabIndex = chosen ? 0 : -1;
      if (chosen) reading.textContent = button.ariaLabel;
    });
  };

  const [cellRows, cellColumns] = header.cells;
  const small = document.createElement("canvas");
  const smallContext = small.getContext("2d");

  onWidth(root, (width) => {
    const gap = columns.length > MANY ? DENSE : GAP;
    const heads = columns.filter((name) => name.startsWith("head ")).length;
    const gaps = gap * (columns.length - 1) + apart(columns.length - 1);
    const letters = letterScale();
    const room = (width - LEFT * letters - gaps) / columns.length;
    const scrolls = room < SMALLEST;
    sheet.classList.toggle("scrolls", scrolls);
    const ratio = Math.min(1.5, Math.max(0.6, queries.length / keys.length));
    const { fills, height } = roomOf(root);
    const tallest = fills ? (height - UNDER - TOP) / rows.length - gap : Infinity;
    const most = Math.max(SMALLEST, tallest); // the largest height of a map in pixels
    const side = scrolls ? SMALLEST : Math.min(room, WIDEST * most);
    const tall = Math.min(most, Math.max(side * ratio, Math.min(side * 1.5, FULL_HEIGHT / rows.length)));
    const upright = side < NARROWER;
    const top = letters * (upright ? UPRIGHT : TOP);
    const after = scrolls ? EDGE : 0;
    const across = EDGE + columns.length * side + gaps + after;
    const left = (column) => EDGE + column * (side + gap) + apart(column);
    const context = fitCanvas(canvas, across, top + rows.length * (tall + gap) + after);
    const sharpness = context.getTransform().a; // the screen's pixels per pixel of the page
    small.width = Math.min(cellColumns, Math.max(1, Math.round(side * sharpness)));
    small.height = Math.min(cellRows, Math.max(1, Math.round(tall * sharpness)));
    note.textContent = sharing(queries.length / small.height, keys.length / small.width);
    const pixels = new ImageData(small.width, small.height);
    const target = new Uint32Array(pixels.data.buffer);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.imageSmoothingEnabled = false;
    buttons.forEach((button, index) => {
      const x = left(index % columns.length);
      const y = top + Math.floor(index / columns.length) * (tall + gap);
      const first = index * cellRows * cellColumns;
      const map = array.subarray(first, first + cellRows * cellColumns);
      const levels = largest(map, cellRows, cellColumns, small.height, small.width);
      levels.forEach((level, at) => (target[at] = colors[level]));
      smallContext.putImageData(pixels, 0, 0);
      const painted = paint?.(map, cellRows, cellColumns, colors) ?? small;
      context.drawImage(painted, ...[x, y, side, tall].map((at) => Math.round(at * sharpness)));
      Object.assign(button.style, {
        left: `${x}px`,
        top: `${y}px`,
        width: `${side}px`,
        height: `${tall}px`,
      });
    });
    context.fillStyle = themeColor(root, "accent");
    buttons.slice(0, group > 1 ? heads : 0).forEach((_, head) => {
      const first = left(head) - (head % group && gap); // begins at the head before, so that the line has no gap inside a group
      const line = [first, top - 3, left(head) + side - first, 2];
      context.fillRect(...line.map((at) => Math.round(at * sharpness)));
    });
    const fontSize = side < NARROW ? `${Math.max(8, 0.4 * side)}px` : "";
    corner.style.top = `${top - 16 * letters}px`;
    rowLabels.forEach((label, row) => {
      label.style.top = `${top + row * (tall + gap) + tall / 2 - 6 * letters}px`;
      label.style.fontSize = rows.length > 9 ? "0.7rem" : "";
    });
    columnLabels.forEach((label, column) => {
      label.classList.toggle("upright", upright && isNaN(Number(label.textContent)));
      Object.assign(label.style, {
        left: `${left(column)}px`,
        width: `${side}px`,
        bottom: `calc(100% - ${top - 4}px)`,
        fontSize,
      });
    });
  });
}

/** Reduce a map [rows, columns] to [height, width], each cell the largest of those it replaces. */
function largest(map, rows, columns, height, width) {
  const joined = new Uint8Array(height * width);
  const places = Array.from({ length: columns }, (_, at) => Math.floor((at * width) / columns));
  for (let row = 0, cell = 0; row < rows; row++) {
    const first = Math.floor((row * height) / rows) * width;
    for (let column = 0; column < columns; column++, cell++) {
      const place = first + places[column];
      if (map[cell] > joined[place]) joined[place] = map[cell];
    }
  }
  return joined;
}

/** Return a sentence on how many queries and keys share a pixel; "" if each has its own. */
function sharing(...inPixel) {
  if (Math.round(Math.max(...inPixel)) === 1) return "";
  const [queries, keys] = inPixel.map((count) => Number(count.toFixed(1)));
  return `These maps are small: each dot shows the largest of about ${queries} × ${keys} weights.`;
}
