import { begin, element, fitCanvas, isSaved, onWidth } from "../../../viz/canvas.js";
import { themeColor } from "../../../viz/colors.js";

/**
 * @typedef {object} Card
 * @property {string} title
 * @property {string} words
 * @property {string} source
 * @property {string[]} figures
 * @property {boolean} in_force
 */

/**
 * @typedef {object} Header
 * @property {Card[]} cards
 * @property {number} size number of tokens on each side of a mask
 * @property {boolean} clickable
 */

const SIDE = 128; // width and height of a drawn mask in pixels

/**
 * Draw each mask as a small picture next to its text; a click answers with the mask's index.
 * @param {import("../../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root, answer } = begin(mount);
  const { cards, size } = header;
  const clickable = header.clickable && !isSaved();
  const focused = root.querySelector("button:focus")?.dataset.place;
  const drawn = cards.map(({ title, words, source, figures, in_force }, place) => {
    const canvas = element("canvas", "", "", { "aria-hidden": "true" });
    const name = element("span", "title", title);
    const head = clickable
      ? element("button", "", [canvas, name], { type: "button", "data-place": place, "aria-pressed": String(in_force) })
      : element("span", "head", [canvas, name]);
    if (clickable) head.onclick = () => answer(place);
    const said = element("div", "said", [
      element("p", "", words),
      element("p", "source", source),
      element("ul", "", figures.map((figure) => element("li", "", figure))),
    ]);
    return element("div", in_force ? "card in-force" : "card", [head, said]);
  });
  root.replaceChildren(...drawn);
  if (focused) root.querySelector(`[data-place="${focused}"]`)?.focus();
  onWidth(root, () => drawn.forEach((card, place) => {
    const mask = array.subarray(place * size * size, (place + 1) * size * size);
    fill(card.querySelector("canvas"), mask, size);
  }));
}

/** Fill the cells that a mask leaves open; neighbours in a row are drawn as one rectangle. */
function fill(canvas, mask, size) {
  const cell = SIDE / size;
  const context = fitCanvas(canvas, SIDE, SIDE);
  context.fillStyle = themeColor(canvas, "accent");
  for (let query = 0; query < size; query++) {
    for (let key = 0, end; key < size; key = end + 1) {
      for (end = key; end < size && mask[query * size + end]; ) end++;
      if (end > key) context.fillRect(cell * key, cell * query, cell * (end - key), cell);
    }
  }
}
