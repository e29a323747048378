// Make tables of all heads, with a row for each layer and a column for each head, that can scroll.

import { element } from "../canvas.js";
import { arrowOf } from "../pointing.js";

const MANY = 16; // a layer with more heads than this has small cells

/** Return whether a layer has so many heads that its cells must be small. */
export function isDense(heads) {
  return heads > MANY;
}

/**
 * Make a table under a heading; its first row and first column stay in view when it scrolls.
 * @param {string} label
 * @param {HTMLElement} heading
 * @param {HTMLElement[][]} rows rows of the same length; the first holds the columns' names
 * @param {number} group the number of neighbouring heads that share keys; a line joins them
 */
export function board(label, heading, rows, group = 1) {
  const heads = rows[0].length - 1;
  rows[0].forEach((cell) => cell.classList.add("over"));
  rows.forEach(([name]) => name.classList.add("beside"));
  if (group > 1) {
    rows[0].slice(1).forEach((cell) => cell.classList.add("sharing"));
    rows.forEach((cells) => cells.slice(1).forEach((cell, head) => cell.classList.toggle("apart", head > 0 && head % group === 0)));
  }
  const content = [heading, element("div", "table", rows.flat())];
  return element("div", isDense(heads) ? "kind dense" : "kind", content, {
    role: "group",
    "aria-label": label,
    style: `--heads: ${heads}`,
  });
}

/**
 * Make a table of all heads under its label, with the numbers of heads above it and of layers beside it.
 * @param {string} label
 * @param {HTMLElement[][]} layers the cells of each layer
 */
export function boardOfHeads(label, layers) {
  const columns = layers[0].map((_, head) => element("span", "", String(head + 1)));
  const rows = layers.map((cells, layer) => [element("span", "", `L${layer + 1}`), ...cells]);
  return board(label, element("div", "heading", label), [[element("span"), ...columns], ...rows]);
}

/** Replace the tables in a root; each new table gets the scroll position of the old one. */
export function replaceBoards(root, ...parts) {
  const places = [...root.querySelectorAll(".table")].map((at) => [at.scrollLeft, at.scrollTop]);
  root.replaceChildren(...parts);
  root.querySelectorAll(".table").forEach((table, at) => {
    if (places[at]) [table.scrollLeft, table.scrollTop] = places[at];
  });
}

/**
 * Move the focus by an arrow key between buttons in rows, which may have different lengths.
 * @param {any} event
 * @param {(HTMLElement | null)[][]} rows the buttons of each row; null is skipped
 */
export function moveInRows(event, rows) {
  const arrow = arrowOf(event);
  if (!arrow) return;
  event.preventDefault();
  let row = rows.findIndex((buttons) => buttons.includes(event.target));
  let column = rows[row].indexOf(event.target);
  let next = null;
  do {
    row += arrow.down;
    column += arrow.across;
    next = rows[row]?.[arrow.down ? Math.min(column, rows[row].length - 1) : column];
  } while (next === null);
  next?.focus();
}
