// Draw a cell with a number for every head.

import { buttonOf, element, rampOf } from "../canvas.js";
import { channels, colorTable, inkOn } from "../colors.js";
import { onPointing } from "../pointing.js";
import { boardOfHeads, isDense, moveInRows, replaceBoards } from "./board.js";

/**
 * Draw a cell for every head; a click calls `answer` with its kind, layer and head.
 * @param {HTMLElement} root
 * @param {object} drawn
 * @param {{ name: string, label: string, values: (number | null)[][] }[]} drawn.kinds the numbers of each kind: [layer][head], null if not known
 * @param {[string, number, number] | null} drawn.selected a kind, a layer and a head, from 0
 * @param {string[]} drawn.colors the colours of the scale
 * @param {(value: number) => number} drawn.share returns the place of a number on the scale, from 0 to 1
 * @param {(value: number) => string} drawn.short returns a number as text for its cell
 * @param {(value: number | null) => string} drawn.long returns a number as text with its name and unit
 * @param {[string, string]} drawn.ends the meaning of the two ends of the scale
 * @param {(place: [string, number, number]) => void} drawn.answer
 */
export function drawHeadCells(root, { kinds, selected, colors, share, short, long, ends, answer }) {
  root.classList.add("head-cells");
  const focused = root.querySelector(".head:focus")?.dataset.place;
  const entered = (selected ?? [kinds[0].name, 0, 0]).join(); // the cell that the tab key focuses
  const reading = element("p", "reading", "", { "aria-live": "polite" });
  const buttons = []; // the buttons of each row, for the arrow keys
  const table = colorTable(colors);

  const head = (place, label, value, text) => {
    const made = buttonOf("head", text, () => answer(place), {
      "aria-label": `${label}: ${long(value)}`,
      "aria-pressed": String(place.join() === selected?.join()),
      tabindex: place.join() === entered ? "0" : "-1",
      "data-place": place.join(),
    });
    if (value !== null) {
      const [red, green, blue] = channels(table[Math.round(255 * share(value))]);
      made.style.background = `rgb(${red},${green},${blue})`;
      made.style.color = inkOn(red, green, blue);
    }
    onPointing(made, () => (reading.textContent = made.ariaLabel));
    made.onkeydown = (event) => moveInRows(event, buttons);
    return made;
  };

  const boards = kinds.map(({ name, label, values }) => {
    const dense = isDense(values[0].length);
    const rows = values.map((row, layer) =>
      row.map((value, column) => {
        const words = `${label}, layer ${layer + 1}, head ${column + 1}`;
        return head([name, layer, column], words, value, value === null || dense ? "" : short(value));
      }),
    );
    buttons.push(...rows);
    return boardOfHeads(label, rows);
  });

  const [low, high] = ends.map((end) => element("span", "", end));
  const legend = element("div", "legend", [low, rampOf(colors), high]);
  replaceBoards(root, element("div", "boards", boards), legend, reading);
  buttons.flat().find((made) => made.dataset.place === focused)?.focus({ preventScroll: true });
}
