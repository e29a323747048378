import { begin, buttonOf, element } from "../../../viz/canvas.js";
import { board, moveInRows, replaceBoards } from "../../../viz/switches/board.js";

/**
 * @typedef {object} Header
 * @property {{ name: string, label: string, gates: number[][], group: number }[]} kinds gates [layer][head], from 0 (off) to 1 (on); every `group` neighbouring heads share a key
 * @property {[string, number, number] | null} selected a kind, a layer and a head, from 0
 */

/**
 * Draw a button for each head, and one for all heads of a layer, of a column and of a kind. A click
 * answers with kind, layer and head; null means all layers or all heads.
 * @param {import("../../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  const focused = root.querySelector("button:focus")?.dataset.place;
  const selected = header.selected?.join();
  const buttons = []; // row by row, so that the arrow keys move between them
  /** Return whether the tab key stops at this button: a heading, or the selected head. */
  const isEntry = (place) => place.join() === selected || (place[1] ?? place[2]) === null;

  const button = (className, text, label, place, pressed) => {
    const made = buttonOf(className, text, () => answer(place), {
      title: label,
      "aria-label": label,
      "aria-pressed": String(pressed),
      tabindex: isEntry(place) ? "0" : "-1",
      "data-place": place.join(),
    });
    made.onkeydown = (event) => moveInRows(event, buttons);
    return made;
  };
  const whole = (text, label, place, gates) =>
    button("whole", text, `${label}: all heads`, place, gates.every((gate) => gate > 0));

  const boards = header.kinds.map(({ name, label, gates, group }) => {
    const heading = whole(label, label, [name, null, null], gates.flat());
    heading.classList.add("heading");
    const columns = gates[0].map((_, head) => {
      const place = [name, null, head];
      const text = `${label}, head ${head + 1} of every layer`;
      const on = gates.every((row) => row[head] > 0);
      return button("whole", String(head + 1), text, place, on);
    });
    const rows = gates.map((row, layer) => {
      const words = `${label}, layer ${layer + 1}`;
      return [
        whole(`L${layer + 1}`, words, [name, layer, null], row),
        ...row.map((gate, head) => {
          const place = [name, layer, head];
          const state = gate === 1 ? "on" : gate === 0 ? "off" : `faded to ${gate.toFixed(2)}`;
          const level = element("span", "level", "", { style: `height: ${100 * gate}%` });
          const content = [level, element("span", "name", String(head + 1))];
          const made = button("head", content, `${words}, head ${head + 1}: ${state}`, place, gate > 0);
          made.classList.toggle("off", gate === 0);
          made.classList.toggle("selected", place.join() === selected);
          return made;
        }),
      ];
    });
    buttons.push([heading], [null, ...columns], ...rows);
    return board(label, heading, [[element("span"), ...columns], ...rows], group);
  });
  root.classList.add("boards");
  replaceBoards(root, ...boards);
  const all = buttons.flat().filter((made) => made !== null);
  all.find((made) => made.dataset.place === focused)?.focus({ preventScroll: true });
}
