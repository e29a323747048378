import { begin, element, moveFocus } from "../canvas.js";

/**
 * @typedef {object} Header
 * @property {{ name: string, label: string, gates: number[][] }[]} kinds gates [layer][head], from 0, off, to 1, on
 * @property {[string, number, number] | null} selected a kind, a layer and a head, from 0
 */

/**
 * Draw a button for every head, layer and kind; a click answers with what was meant.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  const focused = root.querySelector("button:focus")?.dataset.place;
  const selected = header.selected?.join();
  const buttons = [];

  const button = (className, text, label, place, pressed) => {
    const made = element("button", className, text, {
      type: "button",
      title: label,
      "aria-label": label,
      "aria-pressed": String(pressed),
      "data-place": place.join(),
    });
    made.onclick = () => answer(place);
    made.onkeydown = (event) => moveFocus(event, buttons);
    buttons.push(made);
    return made;
  };

  root.replaceChildren(
    ...header.kinds.map(({ name, label, gates }) => {
      const block = element("div", "kind", "", { role: "group", "aria-label": label });
      const on = gates.flat().every((gate) => gate > 0);
      block.append(button("whole heading", label, `${label}: all heads`, [name, null, null], on));
      gates.forEach((row, layer) => {
        const line = element("div", "layer", "", { style: `--heads: ${row.length}` });
        const words = `${label}, layer ${layer + 1}`;
        const all = row.every((gate) => gate > 0);
        line.append(
          button("whole", `L${layer + 1}`, `${words}: all heads`, [name, layer, null], all),
        );
        row.forEach((gate, head) => {
          const place = [name, layer, head];
          const state = gate === 1 ? "on" : gate === 0 ? "off" : `faded to ${gate.toFixed(2)}`;
          const made = button("head", "", `${words}, head ${head + 1}: ${state}`, place, gate > 0);
          made.classList.toggle("off", gate === 0);
          made.classList.toggle("selected", place.join() === selected);
          const level = element("span", "level", "", { style: `height: ${100 * gate}%` });
          made.append(level, element("span", "name", String(head + 1)));
          line.append(made);
        });
        block.append(line);
      });
      return block;
    }),
  );
  buttons.find((made) => made.dataset.place === focused)?.focus();
}
