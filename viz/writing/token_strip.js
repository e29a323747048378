import { begin, element, scrollable } from "../canvas.js";

/**
 * @typedef {object} Chip
 * @property {string} text
 * @property {boolean} joined
 * @property {string} kind
 * @property {boolean} changed
 * @property {number | null} segment
 */

/**
 * @typedef {object} Header
 * @property {string} text empty if it is not shown
 * @property {string} label
 * @property {Chip[]} chips
 * @property {boolean} clickable
 */

/**
 * Write a text and its tokens; if they can be clicked, a click answers with a token's place.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  const focused = root.querySelector("button:focus")?.dataset.place;
  const scrolled = root.querySelector(".chips")?.scrollTop ?? 0;
  const chips = element("div", "chips");
  let word = null; // that the piece before is of
  header.chips.forEach(({ text, joined, kind, changed, segment }, place) => {
    // The pieces of one word stay together where a line breaks.
    if (!joined || !word) chips.append((word = element("span", "word")));
    const clickable = header.clickable && kind !== "special";
    const attributes = clickable ? { type: "button", "data-place": place } : {};
    const chip = element(clickable ? "button" : "span", `chip ${kind}`, text, attributes);
    chip.classList.toggle("changed", changed);
    if (segment !== null) chip.classList.add(`segment-${segment}`);
    if (clickable) {
      chip.setAttribute("aria-pressed", String(kind === "mask"));
      chip.onclick = () => answer(place);
    }
    word.append(chip);
  });
  const parts = [element("div", "label", header.label)];
  if (header.text) parts.push(element("p", "text", header.text));
  root.replaceChildren(...parts, chips);
  chips.scrollTop = scrolled;
  scrollable(chips, "Tokens");
  if (focused) root.querySelector(`[data-place="${focused}"]`)?.focus();
}
