import { begin, element, scrollable } from "../../../viz/canvas.js";
import { written } from "../../../viz/numbers.js";
import { moveFocus, onPointing, POINT_AT } from "../../../viz/pointing.js";

/**
 * @typedef {object} Header
 * @property {string[]} layers names of the rows
 * @property {string[]} read the token of each column
 * @property {string[][][]} words the likeliest next words of each cell, best first
 * @property {number[][]} ranks [layer][position] rank, from 1, of the last layer's likeliest word
 * @property {number[]} settled by column, the row from which on the last layer's word stays first
 */

const HINT = `${POINT_AT} a word to read what else is likely there.`;
const SHADE = 48; // per cent of the shading colour in a cell of probability 1

/**
 * Draw the likeliest word after each layer, for each position. Pointing at a word shows the
 * likeliest words there, with their probabilities.
 * @param {import("../../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root } = begin(mount);
  const { layers, read, words, ranks, settled } = header;
  const numbers = new Float32Array(array.buffer); // probabilities [layer, position, index]
  const likeliest = words[0][0].length;
  const probability = (layer, position, place = 0) =>
    numbers[(layer * read.length + position) * likeliest + place];
  const reading = element("p", "reading above", "", { role: "status" });
  const explain = (text = "") => reading.replaceChildren(text || element("span", "hint", HINT));
  const cells = [];
  const lines = layers.map((name, layer) => {
    const line = read.map((_, position) => {
      const cell = element("td", "cut", words[layer][position][0], { tabindex: "-1", "aria-label": said(layer, position) });
      cell.style.setProperty("--share", `${Math.round(SHADE * probability(layer, position))}%`);
      cell.classList.toggle("kept", layer >= settled[position]);
      cell.classList.toggle("first", layer === settled[position]);
      onPointing(cell, () => explain(said(layer, position)), () => explain());
      cells.push(cell);
      return cell;
    });
    return element("tr", "", [element("th", "", name, { scope: "row" }), ...line]);
  });
  const names = read.map((token) => element("th", "cut", token, { scope: "col" }));
  const corner = element("th", "", "has read");
  const table = element("table", "", [element("tr", "read", [corner, ...names]), ...lines]);
  cells[0].tabIndex = 0; // the tab key stops at this cell; arrow keys move to the others
  table.onkeydown = (event) => moveFocus(event, cells, read.length);
  const legend = element("p", "legend", [
    element("span", "", [element("span", "mark first"), "from here on the word stays the likeliest"]),
    element("span", "scale", ["probability 0", element("span", "ramp"), "1"]),
  ]);
  explain();
  root.replaceChildren(reading, scrollable(element("div", "sheet", [table]), "Layers by positions"), legend);

  /** Return a cell's likeliest words in a sentence, and the rank of the last layer's word. */
  function said(layer, position) {
    const several = words[layer][position];
    const listed = several.map((word, place) => `“${word}” ${written(probability(layer, position, place))}`);
    const rank = ranks[layer][position];
    const end = words.at(-1)[position][0];
    const last = rank > likeliest ? `; “${end}”, the likeliest in the last layer, has rank ${rank.toLocaleString("en")}` : "";
    return `After “${read[position]}”, ${layers[layer]}: ${listed.join(", ")}${last}.`;
  }
}
