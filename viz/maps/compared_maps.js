import { begin, element, isSaved, onWidth, roomOf } from "../canvas.js";
import { difference, written } from "../numbers.js";
import { POINT_AT } from "../pointing.js";
import { LEAST, SMALLEST, drawMap, fitMap, makeMap } from "./map.js";

/**
 * @typedef {object} Header
 * @property {[string, string]} titles
 * @property {[string[], string[]][]} tokens the tokens of the rows and of the columns of A, of B and of their difference
 * @property {[number | null, number | null][]} rows for each row of the difference, its index in A and in B
 * @property {[number | null, number | null][]} columns for each column of the difference, its index in A and in B
 * @property {[number, number] | null} clearest the row and the column of the difference that is framed at first
 * @property {string[]} colors
 * @property {import("../colors.js").Scale} differences the colours of differences
 */

const GAP = 20; // pixels between two maps
const READABLE = 14; // the least side of a cell in pixels if three maps are in a row
const STAGED = 17; // the least side of a cell in pixels on a slide, to keep slanted tokens apart
const AROUND = 104; // pixels of a slide above and below a map
const HINT = `Queries run down, keys across. ${POINT_AT} a cell to read it in both.`;

/**
 * Draw two heads and their difference; pointing at a cell marks it in all three maps.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root } = begin(mount);
  root.picture ??= makePicture(root);
  root.picture.take(header, new Float32Array(array.buffer));
  return onWidth(root, root.picture.render);
}

function makePicture(root) {
  let header;
  let numbers; // the numbers of A, of B and of their difference, each row by row
  let cell = null; // the row and the column of the framed cell in the difference
  let isRead = false; // true once a cell was pointed at; until then `header.clearest` is framed

  // A row or column of the difference has a pair of indices, one in A and one in B: these return one of them.
  const own = [(pair) => pair[0], (pair) => pair[1], null];
  const views = own.map((_, which) =>
    makeMap(which === 2, (row, column) => pointAt(which, row, column), () => cellIn(which)),
  );
  const reading = element("p", "reading", "", { role: "status" });
  const maps = element("div", "maps", views.map((view) => view.figure));
  const note = element("p", "note", "Hatched cells have no counterpart in the other map.");
  root.replaceChildren(reading, maps, note);

  function take(next, values) {
    const of = ({ titles, rows, columns }) => JSON.stringify([titles, rows, columns]);
    if (header && of(next) !== of(header)) isRead = false;
    header = next;
    let start = 0;
    numbers = header.tokens.map(([rows, columns]) => {
      const end = start + rows.length * columns.length;
      const part = values.subarray(start, end);
      start = end;
      return part;
    });
    if (!isRead) cell = header.clearest;
    render();
  }

  root.onpointerleave = () => {
    if (!roomOf(root).fills) return; // only a slide frames the first cell again, because the slide's title is about it
    [cell, isRead] = [header.clearest, false];
    render();
  };

  const titles = () => [...header.titles, "B − A: blue is less in B, red is more"];

  function cellIn(which) {
    const framed = isSaved() ? header.clearest : cell;
    if (!framed || which === 2) return framed;
    return [own[which](header.rows[framed[0]]), own[which](header.columns[framed[1]])];
  }
  function pointAt(which, row, column) {
    const [rows, columns] = header.tokens[which];
    if (row < 0 || column < 0 || row >= rows.length || column >= columns.length) return;
    const place = (axis, at) => (which === 2 ? at : axis.findIndex((pair) => own[which](pair) === at));
    const next = [place(header.rows, row), place(header.columns, column)];
    if (isRead && cell[0] === next[0] && cell[1] === next[1]) return;
    [cell, isRead] = [next, true];
    render();
  }

  function render() {
    if (!root.clientWidth) return;
    const { across, fits } = arrangement();
    views[2].figure.hidden = fits.length === 2;
    views.slice(0, fits.length).forEach((view, which) => {
      const [rows, columns] = header.tokens[which];
      const values = numbers[which];
      drawMap(view, {
        title: titles()[which],
        meaning: "",
        rows,
        columns,
        number: (at) => values[at],
        limit: view.diverging ? largest(values) : 1,
        colors: view.diverging ? header.differences : header.colors,
        cell: cellIn(which),
        isKept: true,
        ...fits[which],
      });
      view.figure.style.maxWidth = `${room(across)}px`;
    });
    maps.style.gridTemplateColumns = `repeat(${across}, max-content)`;
    reading.replaceChildren(isRead ? words() : element("span", "hint", HINT));
    note.hidden = fits.length === 2 || !numbers[2].some(Number.isNaN);
  }

  const room = (across) => (root.clientWidth - GAP * (across - 1)) / across;
  /** Return how many maps are in a row, 3 to 1, and how each is fitted, with cells of one size.
   *
   * A slide shows the two heads without their difference.
   */
  function arrangement() {
    const { fills, height } = roomOf(root);
    const options = fills ? { fills, height: height - AROUND } : {};
    for (const across of fills ? [2] : [3, 2, 1]) {
      const fits = header.tokens.slice(0, fills ? 2 : 3).map((axes) => fitMap(root, ...axes, room(across), options));
      const fit = Math.min(...fits.map((each) => each.side));
      if (!fills && fit < READABLE && across > 1 && (across > 2 || fit < SMALLEST + 4)) continue;
      const side = fills && fit >= READABLE ? Math.max(STAGED, fit) : fit;
      return { across, fits: fits.map((each) => ({ ...each, side })) };
    }
  }
  function largest(values) {
    const sizes = Array.from(values, Math.abs).filter((size) => !Number.isNaN(size));
    return Math.max(LEAST, ...sizes);
  }

  function words() {
    const [row, column] = cell;
    const [query, key] = [header.tokens[2][0][row], header.tokens[2][1][column]];
    const weights = [0, 1].map((which) => {
      const [ownRow, ownColumn] = cellIn(which);
      if (ownRow === null || ownColumn === null) return null;
      return numbers[which][ownRow * header.tokens[which][1].length + ownColumn];
    });
    const said = weights.map((weight, which) => `${"AB"[which]} ${weight === null ? "has no such cell" : written(weight)}`);
    const change = weights.includes(null) ? "nothing to compare" : `difference ${difference(weights[0], weights[1])}`;
    return `“${query}” looks at “${key}”: ${said.join(", ")}, ${change}.`;
  }

  return { take, render };
}
