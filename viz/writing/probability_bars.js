import { begin, element } from "../canvas.js";
import { written } from "../numbers.js";

/**
 * @typedef {object} Header
 * @property {string[]} tokens or names of what was measured
 * @property {string[]} runs
 * @property {string[]} colors of the runs
 * @property {number[]} limits where the bars of each token end
 * @property {boolean} numbered whether the tokens are those of a text
 */

/**
 * Draw a bar from 0 for each token in each run, with its number behind it.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root } = begin(mount);
  const { tokens, runs, colors, limits, numbered } = header;
  const numbers = new Float32Array(array.buffer); // run by run
  const found = (run, place) => written(numbers[run * tokens.length + place]);

  const legend = element("p", "legend");
  legend.append(
    ...runs.map((name, run) => {
      const entry = element("span", "run", name);
      const mark = element("span", "mark");
      mark.style.background = colors[run];
      entry.prepend(mark);
      return entry;
    }),
  );
  const rows = element("div", numbered ? "rows" : "rows named", "", { role: "list" });
  tokens.forEach((token, place) => {
    const said = runs.map((name, run) => `${name} ${found(run, place)}`).join(", ");
    const row = element("div", "row", "", { role: "listitem", "aria-label": `${token}: ${said}` });
    const bars = element("div", "bars", "", { "aria-hidden": "true" });
    runs.forEach((name, run) => {
      const line = element("div", "line");
      const track = element("span", "track");
      const bar = element("span", "bar");
      bar.style.width = `${(100 * numbers[run * tokens.length + place]) / limits[place]}%`;
      bar.style.background = colors[run];
      track.append(bar);
      line.append(track, element("span", "number", found(run, place)));
      bars.append(line);
    });
    const label = element("span", "token", token, { "aria-hidden": "true", title: token });
    if (numbered) row.append(element("span", "place", String(place + 1), { "aria-hidden": "true" }));
    row.append(label, bars);
    rows.append(row);
  });
  root.replaceChildren(legend, rows);
}
