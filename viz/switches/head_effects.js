import { begin, element } from "../canvas.js";
import { board, isDense, moveInRows, replaceBoards } from "./board.js";

/**
 * @typedef {object} Header
 * @property {{ name: string, label: string, effects: (number | null)[][], colors: (string | null)[][] }[]} effects a kind each: [layer][head], null if not yet known
 * @property {number} limit where the colours end
 * @property {string[]} scale the colours, from a loss to a gain
 * @property {[string, number, number] | null} selected a kind, a layer and a head, from 0
 */

const MINUS = "\u2212";
const DARK = 0.7; // from this part of the largest change on, white is easier to read on its colour

/** A change with its sign: −0.31, +0.05, and 0.00 without one. */
function signed(value, digits) {
  const size = Math.abs(value).toFixed(digits);
  if (Number(size) === 0) return size;
  return (value < 0 ? MINUS : "+") + size;
}

/** Draw a cell for every head, coloured by what its removal changes; a click picks the head.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  const focused = root.querySelector(".head:focus")?.dataset.place;
  const first = [header.effects[0].name, 0, 0];
  const entered = (header.selected ?? first).join(); // where the tab key comes in
  const reading = element("p", "reading", "", { "aria-live": "polite" });
  const buttons = []; // by rows, for the arrow keys

  const head = (place, label, effect, color, text) => {
    const known = effect === null ? "not yet measured" : `${signed(effect, 3)} nats without it`;
    const made = element("button", "head", text, {
      type: "button",
      "aria-label": `${label}: ${known}`,
      "aria-pressed": String(place.join() === header.selected?.join()),
      tabindex: place.join() === entered ? "0" : "-1",
      "data-place": place.join(),
    });
    if (effect !== null) {
      made.classList.add(Math.abs(effect) > DARK * header.limit ? "dark" : "light");
      made.style.background = color;
    }
    made.onclick = () => answer(place);
    made.onpointerenter = made.onfocus = () => (reading.textContent = made.ariaLabel);
    made.onkeydown = (event) => moveInRows(event, buttons);
    return made;
  };

  const kinds = element("div", "boards");
  for (const { name, label, effects, colors } of header.effects) {
    const dense = isDense(effects[0].length);
    const columns = effects[0].map((_, column) => element("span", "", String(column + 1)));
    const rows = effects.map((row, layer) =>
      row.map((effect, column) => {
        const words = `${label}, layer ${layer + 1}, head ${column + 1}`;
        const text = effect === null || dense ? "" : signed(effect, 1);
        return head([name, layer, column], words, effect, colors[layer][column], text);
      }),
    );
    buttons.push(...rows);
    kinds.append(
      board(label, element("div", "heading", label), [
        [element("span"), ...columns],
        ...rows.map((row, layer) => [element("span", "", `L${layer + 1}`), ...row]),
      ]),
    );
  }

  const legend = element("div", "legend");
  const end = header.limit.toFixed(2);
  const scale = element("span", "scale", "", { "aria-hidden": "true" });
  scale.style.background = `linear-gradient(to right, ${header.scale.join(", ")})`;
  legend.append(
    element("span", "", `${MINUS}${end}: it helped`),
    scale,
    element("span", "", `+${end}: it was in the way`),
  );
  replaceBoards(root, kinds, legend, reading);
  buttons.flat().find((made) => made.dataset.place === focused)?.focus({ preventScroll: true });
}
