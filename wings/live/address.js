// Write the state of the live page into its address, and read it from there. Edits have the form of
// the app's links.

import { AS_TRAINED } from "./attention.js";

/**
 * @typedef {object} State
 * @property {string} sentence
 * @property {string} kind
 * @property {number} layer from 0
 * @property {number} head from 0
 * @property {number} beamSize
 * @property {number[]} forced the ids with which the translation must begin
 * @property {string} typed a text that must follow the forced ids, not yet split into ids
 * @property {import("./attention.js").Edits} edits
 */

const NUMBER = /^[1-9]\d{0,2}$/;
const GATE = /^gate\.(encoder|decoder|cross)\.(\d{1,2})\.(\d{1,2}(?:-\d{1,2})?)\.(\d{1,3})$/;
const CELLS = /^(open|close)\.(encoder|decoder|cross)\.(all|\d{1,2})\.(all|\d{1,2})\.(\d{1,3}(?:-\d{1,3})?)\.(\d{1,3}(?:-\d{1,3})?)$/;
const MOST_CELLS = 5_000; // the most edited pairs of query and key that an address may have, as in the app

/** @param {State} state */
export function addressOf({ sentence, kind, layer, head, beamSize, forced, edits }) {
  const all = { sentence, kind, layer: layer + 1, head: head + 1 };
  const more = { beam: beamSize > 1 && beamSize, forced: forced.join("."), edits: textOf(edits), off: edits.positions.join(".") };
  for (const [name, value] of Object.entries(more)) if (value) all[name] = value;
  return `#${new URLSearchParams(all)}`;
}

/**
 * Read a state from an address; a value that is missing or invalid has its default.
 * @param {string} address
 * @param {State} defaults
 * @returns {State}
 */
export function stateOf(address, defaults) {
  const given = new URLSearchParams(address.replace(/^#/, ""));
  const count = (name, least) => (NUMBER.test(given.get(name) ?? "") ? Number(given.get(name)) - 1 : least);
  const forced = (given.get("forced") ?? "").split(".").filter((id) => /^\d{1,5}$/.test(id));
  return {
    sentence: given.get("sentence") ?? defaults.sentence,
    kind: ["encoder", "decoder", "cross"].includes(given.get("kind")) ? given.get("kind") : defaults.kind,
    layer: count("layer", defaults.layer),
    head: count("head", defaults.head),
    beamSize: Math.min(8, count("beam", 0) + 1),
    forced: forced.map(Number),
    typed: "",
    edits: editsOf(given.get("edits") ?? "", (given.get("off") ?? "").split(".")),
  };
}

/** @param {import("./attention.js").Edits} edits */
function textOf({ gates, cells, off }) {
  const whole = (index) => (index === null ? "all" : index + 1);
  return [
    ...off.map((name) => `${name}.off`),
    ...Object.entries(gates).map(([name, gate]) => {
      const [kind, layer, head] = name.split(".");
      return `gate.${kind}.${Number(layer) + 1}.${Number(head) + 1}.${Math.round(100 * gate)}`;
    }),
    ...cells.map(({ kind, layer, head, query, key, open }) =>
      [open ? "open" : "close", kind, whole(layer), whole(head), query + 1, key + 1].join("."),
    ),
  ].join("~");
}

/** Return the indices, from 0, of a span of numbers from 1: [1, 2, 3] for "2-4". */
function indicesOf(span) {
  const [first, last = first] = span.split("-").map(Number);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first - 1 + at);
}

/** @returns {import("./attention.js").Edits} */
function editsOf(text, sides) {
  const edits = { ...AS_TRAINED, gates: {}, cells: [], positions: sides.filter((side) => ["encoder", "decoder"].includes(side)) };
  const index = (number) => (number === "all" ? null : Number(number) - 1);
  for (const edit of text.split("~")) {
    const gate = GATE.exec(edit);
    const cells = CELLS.exec(edit);
    if (edit === "look-ahead.off") edits.off = ["look-ahead"];
    else if (gate) {
      const [, kind, layer, heads, percent] = gate;
      for (const head of indicesOf(heads)) edits.gates[`${kind}.${Number(layer) - 1}.${head}`] = Math.min(100, Number(percent)) / 100;
    } else if (cells) {
      const [, verb, kind, layer, head, queries, keys] = cells;
      const of = { kind, layer: index(layer), head: index(head), open: verb === "open" };
      const added = indicesOf(queries).flatMap((query) => indicesOf(keys).map((key) => ({ ...of, query, key })));
      if (edits.cells.length + added.length <= MOST_CELLS) edits.cells.push(...added);
    }
  }
  return edits;
}
