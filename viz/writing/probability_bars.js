import { begin, element, legendOf } from "../canvas.js";
import { written } from "../numbers.js";

/**
 * @typedef {object} Header
 * @property {string[]} tokens tokens, or the names of measures
 * @property {string[]} runs
 * @property {string[]} colors of the runs
 * @property {number[]} limits where the bars of each token end
 * @property {boolean} numbered whether the tokens are those of a text
 */

/**
 * Draw a bar from 0 for each token in each run, with its number after it.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root } = begin(mount);
  const { tokens, runs, colors, limits, numbered } = header;
  const numbers = new Float32Array(array.buffer); // run by run
  const found = (run, place) => written(numbers[run * tokens.length + place]);

  const bar = (run, place) => {
    const width = Math.max(0, (100 * numbers[run * tokens.length + place]) / limits[place]);
    const filled = element("span", "bar", "", { style: `width: ${width}%; background: ${colors[run]}` });
    return element("div", "line", [
      element("span", "track", [filled]),
      element("span", "number", found(run, place)),
    ]);
  };
  const hidden = { "aria-hidden": "true" };
  const rows = tokens.map((token, place) => {
    const said = runs.map((name, run) => `${name} ${found(run, place)}`).join(", ");
    const content = [
      element("span", "token cut", token, { ...hidden, title: token }),
      element("div", "bars", runs.map((_, run) => bar(run, place)), hidden),
    ];
    if (numbered) content.unshift(element("span", "place", String(place + 1), hidden));
    return element("div", "row", content, { role: "listitem", "aria-label": `${token}: ${said}` });
  });
  const list = element("div", numbered ? "rows" : "rows named", rows, { role: "list" });
  root.replaceChildren(legendOf(runs, colors), list);
}
