import { begin, element, legendOf } from "../canvas.js";
import { scaleOn } from "../colors.js";
import { written } from "../numbers.js";

/**
 * @typedef {object} Header
 * @property {string[]} tokens tokens, or the names of measures
 * @property {string[]} runs
 * @property {string[]} colors a colour for each run
 * @property {number[]} limits the number at which the bars of each token end
 * @property {import("../colors.js").Scale | null} below the colours above and below 0; null if nothing is below 0
 * @property {number} first the number of the first token; 0 if tokens are not numbered
 */

/**
 * Draw a bar for each token in each run, to the left if its number is below 0, followed by the number.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root } = begin(mount);
  const { tokens, runs, colors, limits, first } = header;
  const numbers = new Float32Array(array.buffer); // (runs, tokens)
  const numberOf = (run, place) => numbers[run * tokens.length + place];
  const text = (run, place) => (Number.isNaN(numberOf(run, place)) ? "–" : written(numberOf(run, place)));
  const negative = header.below && scaleOn(root, header.below)[1];
  const zero = negative ? 50 : 0; // the place of 0, in per cent of the width for bars

  const bar = (run, place) => {
    const share = ((100 - zero) * numberOf(run, place)) / limits[place] || 0; // a number that is not known has no bar
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
