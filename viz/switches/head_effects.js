import { begin } from "../canvas.js";
import { scaleOn } from "../colors.js";
import { written } from "../numbers.js";
import { drawHeadCells } from "./head_cells.js";

/**
 * @typedef {object} Header
 * @property {{ name: string, label: string, effects: (number | null)[][] }[]} effects the effects of each kind: [layer][head], null if not yet known
 * @property {number} limit the absolute number at which the colours end
 * @property {import("../colors.js").Scale} colors the scale from a loss to a gain
 * @property {string} measure what the numbers are
 * @property {[string, string]} ends the meaning of numbers below 0, and above
 * @property {number} decimals the decimals of the numbers in cells
 * @property {string} absent the words for null
 * @property {[string, number, number] | null} selected a kind, a layer and a head, from 0
 */

/** Draw a cell for every head, coloured by the effect of removing it; a click picks the head.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  const { measure, ends, limit, decimals, absent } = header;
  root.classList.toggle("exact", decimals > 1);
  drawHeadCells(root, {
    kinds: header.effects.map(({ name, label, effects }) => ({ name, label, values: effects })),
    selected: header.selected,
    colors: scaleOn(root, header.colors),
    share: (effect) => 0.5 + (0.5 * effect) / (limit || 1),
    short: (effect) => written(effect, true, decimals),
    long: (effect) => (effect === null ? absent : `${written(effect, true)} ${measure}`),
    ends: [`${written(-limit, false, decimals)} ${measure}: ${ends[0]}`, `${written(limit, true, decimals)}: ${ends[1]}`],
    answer,
  });
}
