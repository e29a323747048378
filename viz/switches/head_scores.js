import { begin } from "../canvas.js";
import { scaleOn } from "../colors.js";
import { written } from "../numbers.js";
import { drawHeadCells } from "./head_cells.js";

/**
 * @typedef {object} Header
 * @property {{ name: string, label: string, scores: (number | null)[][] }[]} scores the scores of each kind: [layer][head], null where there is none
 * @property {string} name the name of the scores
 * @property {string} unit the unit of the scores
 * @property {[number, number]} limits the numbers at which the colours begin and end
 * @property {import("../colors.js").Scale} colors the colours between the limits
 * @property {[string, number, number] | null} selected a kind, a layer and a head, from 0
 */

/** Draw a cell for every head, coloured by its score; a click picks the head.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  const { name, limits } = header;
  const unit = header.unit && ` ${header.unit}`;
  const [low, high] = limits;
  const whole = header.scores.every(({ scores }) => scores.flat().every((score) => Number.isInteger(score ?? 0)));
  drawHeadCells(root, {
    kinds: header.scores.map(({ name, label, scores }) => ({ name, label, values: scores })),
    selected: header.selected,
    colors: scaleOn(root, header.colors),
    share: (score) => Math.max(0, Math.min(1, (score - low) / (high - low || 1))),
    short: (score) => written(score, false, whole ? 0 : 2),
    long: (score) => (score === null ? `${name}: none` : `${name} ${written(score)}${unit}`),
    ends: [`${name} ${tidy(low)}${unit}`, tidy(high)],
    answer,
  });
}

/** Return a number as text with two decimals, or with none if it is a whole number. */
const tidy = (number) => written(number, false, Number.isInteger(number) ? 0 : 2);
