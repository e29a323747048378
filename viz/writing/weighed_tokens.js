import { buttonOf, element, icon, scrollable } from "../canvas.js";
import { channels, inkOn } from "../colors.js";
import { written } from "../numbers.js";

const CROSS = "M4 5l1-1 3 3 3-3 1 1-3 3 3 3-1 1-3-3-3 3-1-1 3-3z";

/**
 * Make a list of tokens in lines like a text, each above a cell.
 * @param {string} label
 * @param {string[]} tokens
 * @param {(place: number) => HTMLElement} cell
 * @param {(place: number) => string} [state] returns further CSS classes of the token
 */
export function weighedTokens(label, tokens, cell, state = () => "") {
  const parts = tokens.map((token, place) =>
    element("div", `token ${state(place)}`, [element("span", "name cut", token, { title: token }), cell(place)]),
  );
  return scrollable(element("div", "weighed-tokens", parts), label);
}

/** Make a cell with a weight from 0 to 1 in its colour of a `colorTable`; a click calls `pick`. */
export function weightCell(weight, colors, pick) {
  const title = "Click to see how this weight comes about";
  const [red, green, blue] = channels(colors[Math.round(Math.min(1, weight) * 255)]);
  return element("div", "weight", [buttonOf("", written(weight), pick, { title })], {
    style: `background: rgb(${red},${green},${blue}); color: ${inkOn(red, green, blue)}`,
  });
}

/** Make the cell of a token that the mask blocks. */
export function closedCell() {
  return element("div", "closed", [icon(CROSS)], { title: "closed by the mask" });
}

/** Make the cell of a token that is not written yet. */
export function comingCell() {
  return element("div", "coming", "\u00a0", { title: "not written yet" });
}
