import { begin, element, isStaged } from "../canvas.js";
import { short } from "./ticks.js";

/**
 * @typedef {object} Row
 * @property {string} name
 * @property {string} usual what is usual, in words
 * @property {number} bins how many of them follow in the array; 0 if the number has none
 * @property {number} low where the first begins
 * @property {number} high where the last ends
 * @property {number | null} here the number of one sentence
 * @property {string} said the same in words
 * @property {boolean} far whether it is far from the others
 *
 * @typedef {object} Header
 * @property {Row[]} rows
 */

/**
 * Draw a row for each number: its name, what is usual, the histogram, and what is here.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root } = begin(mount);
  const counts = new Float32Array(array.buffer);
  const reading = element("p", "reading", "", { "aria-live": "polite" });
  let at = 0;
  const rows = header.rows.map((row) => {
    const bins = counts.subarray(at, (at += row.bins));
    const said = [`${row.name}: ${row.usual}`, row.said].filter(Boolean).join("; ");
    const made = element("div", "row", "", { role: "img", "aria-label": said });
    const words = element("span", "words");
    words.append(element("span", "name", row.name), element("span", "usual", row.usual));
    made.append(words, row.bins ? histogram(row, bins, reading) : element("span", "plot"));
    made.append(element("span", row.far ? "said far" : "said", row.said));
    return made;
  });
  root.classList.toggle("staged", isStaged(root));
  root.replaceChildren(...rows, reading);
}

function histogram({ name, low, high, here }, bins, reading) {
  const plot = element("span", "plot");
  const bars = element("span", "bars");
  const [most, all] = [Math.max(...bins), bins.reduce((sum, count) => sum + count, 0)];
  const width = (high - low) / bins.length;
  bins.forEach((count, place) => {
    const bar = element("span", "bar");
    const filled = element("span", "filled");
    // A single sentence among thousands is still seen.
    filled.style.height = count ? `max(1px, ${(100 * count) / (most || 1)}%)` : "0";
    bar.append(filled);
    const [from, to] = [low + place * width, low + (place + 1) * width].map((edge) => short(edge));
    const share = short((100 * count) / (all || 1));
    bar.onpointerenter = () => (reading.textContent = `${name}, ${from} to ${to}: ${share} % of the sentences`);
    bars.append(bar);
  });
  if (here !== null) {
    const mark = element("span", "here");
    mark.style.left = `${Math.max(0, Math.min(100, (100 * (here - low)) / (high - low)))}%`;
    bars.append(mark);
  }
  plot.onpointerleave = () => (reading.textContent = "");
  const ends = element("span", "ends");
  ends.append(element("span", "", short(low)), element("span", "", short(high)));
  plot.append(bars, ends);
  return plot;
}
