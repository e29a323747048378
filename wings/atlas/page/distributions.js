import { begin, element, isStaged } from "../../../viz/canvas.js";
import { short } from "../../../viz/numbers.js";
import { onPointing } from "../../../viz/pointing.js";

/**
 * @typedef {object} Row
 * @property {string} name
 * @property {string} usual the number's usual value, in words
 * @property {number} bins the number of this row's bins in the array; 0 without a histogram
 * @property {number} low where the first bin begins
 * @property {number} high where the last bin ends
 * @property {number | null} here the value for the visitor's sentence
 * @property {string} said the value for the visitor's sentence, in words
 * @property {boolean} far true if this value is far from those of other sentences
 *
 * @typedef {object} Header
 * @property {Row[]} rows
 */

/**
 * Draw a row for each number: its name, usual value, histogram, and value for the visitor's text.
 * @param {import("../../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root } = begin(mount);
  const counts = new Float32Array(array.buffer);
  const reading = element("p", "reading", "", { "aria-live": "polite" });
  let at = 0;
  const rows = header.rows.map((row) => {
    const bins = counts.subarray(at, (at += row.bins));
    const said = [`${row.name}: ${row.usual}`, row.said].filter(Boolean).join("; ");
    const content = [
      element("span", "words", [element("span", "name", row.name), element("span", "usual", row.usual)]),
      row.bins ? histogram(row, bins, reading) : element("span", "plot"),
      element("span", row.far ? "said far" : "said", row.said),
    ];
    return element("div", "row", content, { role: "img", "aria-label": said });
  });
  root.classList.toggle("staged", isStaged(root));
  root.replaceChildren(...rows, reading);
}

function histogram({ name, low, high, here }, bins, reading) {
  const [most, all] = [Math.max(...bins), bins.reduce((sum, count) => sum + count, 0)];
  const width = (high - low) / bins.length;
  const bars = Array.from(bins, (count, place) => {
    // At least 1px, so that a single sentence among thousands can be seen.
    const height = count ? `max(1px, ${(100 * count) / (most || 1)}%)` : "0";
    const bar = element("span", "bar", [element("span", "filled", "", { style: `height: ${height}` })]);
    const [from, to] = [low + place * width, low + (place + 1) * width].map((edge) => short(edge));
    const share = short((100 * count) / (all || 1));
    onPointing(bar, () => (reading.textContent = `${name}, ${from} to ${to}: ${share} % of the sentences`));
    return bar;
  });
  if (here !== null) {
    const left = Math.max(0, Math.min(100, (100 * (here - low)) / (high - low)));
    bars.push(element("span", "here", "", { style: `left: ${left}%` }));
  }
  const ends = [low, high].map((end) => element("span", "", short(end)));
  const plot = element("span", "plot", [element("span", "bars", bars), element("span", "ends", ends)]);
  plot.onpointerleave = () => (reading.textContent = "");
  return plot;
}
