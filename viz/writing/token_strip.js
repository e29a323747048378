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
 * Write a text and its tokens; where they can be clicked, a click answers with a token's place.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  const focused = root.querySelector("button:focus")?.dataset.place;
  const scrolled = root.querySelector(".chips")?.scrollTop ?? 0;
  const chips = element("div", "chips");
  header.chips.forEach(({ text, joined, kind, changed, segment }, place) => {
    // The pieces of one word stay together where a line breaks.
    if (!joined || !chips.lastChild) chips.append(element("span", "word"));
    const clickable = header.clickable && kind !== "special";
    const chip = element(clickable ? "button" : "span", `chip ${kind}`, text);
    chip.classList.toggle("changed", changed);
    if (segment !== null) chip.classList.add(`segment-${segment}`);
    if (clickable) {
      chip.type = "button";
      chip.dataset.place = place;
      chip.setAttribute("aria-pressed", String(kind === "mask"));
      chip.onclick = () => answer(place);
    }
    chips.lastChild.append(chip);
  });
  const parts = [element("div", "label", header.label)];
  if (header.text) parts.push(element("p", "text", header.text));
  root.replaceChildren(...parts, chips);
  chips.scrollTop = scrolled;
  scrollable(chips, "Tokens");
  if (focused) chips.querySelector(`[data-place="${focused}"]`)?.focus();
}
