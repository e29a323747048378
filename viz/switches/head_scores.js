import { begin } from "../canvas.js";
import { scaleOn } from "../colors.js";
import { written } from "../numbers.js";
import { drawHeadCells } from "./head_cells.js";

/**
 * @typedef {object} Header
 * @property {{ name: string, label: string, scores: number[][] }[]} scores a kind each: [layer][head], from 0 to 1
 * @property {string} name what is scored
 * @property {import("../colors.js").Scale} colors from 0 to 1
 * @property {[string, number, number] | null} selected a kind, a layer and a head, from 0
 */

/** Draw a cell for every head, coloured by its score in a test; a click picks the head.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  drawHeadCells(root, {
    kinds: header.scores.map(({ name, label, scores }) => ({ name, label, values: scores })),
    selected: header.selected,
    colors: scaleOn(root, header.colors),
    share: (score) => score,
    short: (score) => written(score, false, 2),
    long: (score) => `${header.name} score ${written(score)}`,
    ends: [`${header.name} score 0`, "1"],
    answer,
  });
}
