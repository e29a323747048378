import { begin, element, scrollable } from "../canvas.js";
import { written } from "../numbers.js";
import { moveFocus, onPointing, POINT_AT } from "../pointing.js";

/**
 * @typedef {object} Chip
 * @property {string} text
 * @property {boolean} joined
 * @property {string} kind
 * @property {boolean} changed
 * @property {number | null} segment
 * @property {number | null} probability
 */

/**
 * @typedef {object} Header
 * @property {string} text the text in large letters; empty if it is not shown
 * @property {string} label
 * @property {Chip[]} chips
 * @property {boolean} clickable
 * @property {boolean} explained true if the legend says what shades mean
 * @property {boolean} framed true if the legend also says what frames mean
 */

const LEGEND = "The stronger the shade of a token, the less likely the model found it.";
const FRAMED = "Framed tokens are missing in the other text, or are in another place there.";
const HINT = `${POINT_AT} one to read its probability.`;

/**
 * Write a text and its tokens; if they can be clicked, a click sends a token's index.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  const focused = root.querySelector("button:focus")?.dataset.place;
  const scrolled = root.querySelector(".chips")?.scrollTop ?? 0;
  const chips = element("div", "chips");
  let word = null; // the element of the word to which the previous token belongs
  const legend = element("p", "legend");
  const meaning = header.framed ? [LEGEND, FRAMED] : [LEGEND];
  const explain = (said = header.explained ? element("span", "hint", HINT) : "") =>
    legend.replaceChildren(...(header.explained ? meaning.map((words) => `${words} `) : []), said);
  explain();
  const measured = [];
  header.chips.forEach(({ text, joined, kind, changed, segment, probability }, place) => {
    // No line breaks between the pieces of a word.
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
    if (probability !== null) {
      shade(chip, text, probability, explain);
      measured.push(chip);
    }
    word.append(chip);
  });
  if (measured.length) {
    measured[0].tabIndex = 0; // the Tab key reaches only the first chip, the arrow keys the others
    chips.onkeydown = (event) => moveFocus(event, measured, measured.length);
  }
  root.replaceChildren(
    element("div", "label", header.label),
    ...(header.text ? [element("p", "text", header.text)] : []),
    chips,
    ...(measured.length ? [legend] : []),
  );
  chips.scrollTop = scrolled;
  scrollable(chips, "Tokens");
  if (focused) root.querySelector(`[data-place="${focused}"]`)?.focus();
}

/** Shade a chip by how unlikely it is, and show its probability while it is pointed at. */
function shade(chip, text, probability, explain) {
  const said = `${text}: probability ${written(probability)}`;
  chip.classList.add("measured");
  chip.style.setProperty("--doubt", `${Math.round(45 * (1 - probability))}%`);
  chip.setAttribute("role", "img");
  chip.setAttribute("aria-label", said);
  chip.tabIndex = -1;
  onPointing(chip, () => explain(`${said}.`), () => explain());
}
