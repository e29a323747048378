import { begin, element } from "../canvas.js";
import { channels, colorTable, inkOn, scaleOn } from "../colors.js";
import { written } from "../numbers.js";
import { board, isDense, moveInRows, replaceBoards } from "./board.js";

/**
 * @typedef {object} Header
 * @property {{ name: string, label: string, effects: (number | null)[][] }[]} effects a kind each: [layer][head], null if not yet known
 * @property {number} limit where the colours end
 * @property {import("../colors.js").Scale} colors from a loss to a gain
 * @property {string} measure what the numbers are
 * @property {[string, string]} ends what a number below 0 means, and one above
 * @property {[string, number, number] | null} selected a kind, a layer and a head, from 0
 */

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

  const colors = scaleOn(root, header.colors);
  const table = colorTable(colors);
  const colorOf = (effect) => channels(table[Math.round(127.5 + (127.5 * effect) / (header.limit || 1))]);

  const head = (place, label, effect, text) => {
    const known = effect === null ? "not yet measured" : `${written(effect, true)} ${header.measure}`;
    const made = element("button", "head", text, {
      type: "button",
      "aria-label": `${label}: ${known}`,
      "aria-pressed": String(place.join() === header.selected?.join()),
      tabindex: place.join() === entered ? "0" : "-1",
      "data-place": place.join(),
    });
    if (effect !== null) {
      const [red, green, blue] = colorOf(effect);
      made.style.background = `rgb(${red},${green},${blue})`;
      made.style.color = inkOn(red, green, blue);
    }
    made.onclick = () => answer(place);
    made.onpointerenter = made.onfocus = () => (reading.textContent = made.ariaLabel);
    made.onkeydown = (event) => moveInRows(event, buttons);
    return made;
  };

  const kinds = element("div", "boards");
  for (const { name, label, effects } of header.effects) {
    const dense = isDense(effects[0].length);
    const columns = effects[0].map((_, column) => element("span", "", String(column + 1)));
    const rows = effects.map((row, layer) =>
      row.map((effect, column) => {
        const words = `${label}, layer ${layer + 1}, head ${column + 1}`;
        const text = effect === null || dense ? "" : written(effect, true, 1);
        return head([name, layer, column], words, effect, text);
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
  const end = header.limit;
  const scale = element("span", "scale", "", { "aria-hidden": "true" });
  scale.style.background = `linear-gradient(to right, ${colors.join(", ")})`;
  legend.append(
    element("span", "", `${written(-end)} ${header.measure}: ${header.ends[0]}`),
    scale,
    element("span", "", `${written(end, true)}: ${header.ends[1]}`),
  );
  replaceBoards(root, kinds, legend, reading);
  buttons.flat().find((made) => made.dataset.place === focused)?.focus({ preventScroll: true });
}
