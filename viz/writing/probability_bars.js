import { begin, element, legendOf } from "../canvas.js";
import { scaleOn } from "../colors.js";
import { written } from "../numbers.js";

/**
 * @typedef {object} Header
 * @property {string[]} tokens tokens, or the names of measures
 * @property {string[]} runs
 * @property {string[]} colors of the runs
 * @property {number[]} limits where the bars of each token end
 * @property {import("../colors.js").Scale | null} below colours above 0 and below it; null if nothing is below
 * @property {number} first number of the tokens of a text; 0 for none
 */

/**
 * Draw a bar from 0 for each token in each run, to the left if it is below, with its number after it.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root } = begin(mount);
  const { tokens, runs, colors, limits, first } = header;
  const numbers = new Float32Array(array.buffer); // run by run
  const numberOf = (run, place) => numbers[run * tokens.length + place];
  const text = (run, place) => (Number.isNaN(numberOf(run, place)) ? "–" : written(numberOf(run, place)));
  const negative = header.below && scaleOn(root, header.below)[1];
  const zero = negative ? 50 : 0; // per cent of the track

  const bar = (run, place) => {
    const share = ((100 - zero) * numberOf(run, place)) / limits[place] || 0; // what is not known has no bar
    const filled = element("span", "bar", "", {
      style: `margin-left: ${zero + Math.min(0, share)}%; width: ${Math.abs(share)}%; background: ${share < 0 ? negative : colors[run]}`,
    });
    return element("div", "line", [
      element("span", negative ? "track halved" : "track", [filled]),
      element("span", "number", text(run, place)),
    ]);
  };
  const hidden = { "aria-hidden": "true" };
  const rows = tokens.map((token, place) => {
    const said = runs.map((name, run) => `${name} ${text(run, place)}`).join(", ");
    const content = [
      element("span", "token cut", token, { ...hidden, title: token }),
      element("div", "bars", runs.map((_, run) => bar(run, place)), hidden),
    ];
    if (first) content.unshift(element("span", "place", String(place + first), hidden));
    return element("div", "row", content, { role: "listitem", "aria-label": `${token}: ${said}` });
  });
  const list = element("div", first ? "rows" : "rows named", rows, { role: "list" });
  root.replaceChildren(legendOf(negative ? [...runs, "below 0"] : runs, [...colors, negative]), list);
}
