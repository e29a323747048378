import { begin, element, icon, scrollable } from "../../../viz/canvas.js";
import { written } from "../../../viz/numbers.js";

/**
 * @typedef {object} Header
 * @property {string[]} read the token that the decoder reads at each position
 * @property {string[]} wanted the token that the decoder should write there
 * @property {string[]} favourites the token that the decoder finds likeliest there
 * @property {boolean[]} same true where `wanted` and `favourites` have the same token
 */

const ARROW = "M3 2l7 7V4h3v9H4v-3h5L2 3z"; // an arrow that points down and to the right

/**
 * Draw a table: the target shifted right, the target, and the probability of each token.
 * @param {import("../../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root } = begin(mount);
  const { read, wanted, favourites } = header;
  const values = new Float32Array(array.buffer);
  const probabilities = values.subarray(0, read.length);
  const highest = values.subarray(read.length);

  const row = (name, className, cells) =>
    element("tr", className, [element("th", "", name, { scope: "row" }), ...cells]);
  const text = (words, className = "") => element("span", className, words);
  const reads = read.map((token, place) => {
    const arrow = place > 0 ? [element("span", "arrow", [icon(ARROW)])] : [];
    return element("td", "", [...arrow, text(token)]);
  });
  const likely = wanted.map((token, place) => {
    const fill = element("span", "fill", "", { style: `height: ${100 * probabilities[place]}%` });
    const content = [element("span", "column", [fill]), text(written(probabilities[place]))];
    return element("td", "", content, { title: `“${token}”` });
  });
  const likeliest = favourites.map((token, place) => {
    const words = [text(header.same[place] ? "the same" : token, "token"), text(written(highest[place]))];
    return element("td", header.same[place] ? "same" : "other", words);
  });
  const table = element("table", "", [
    row("should write", "wanted", wanted.map((token) => element("td", "", token))),
    row("reads", "read", reads),
    row("probability", "probability", likely),
    row("would write", "favourite", likeliest),
  ]);
  root.replaceChildren(table);
  scrollable(root, "The target, and the target shifted right");
}
