/** Draw a button for every head, layer and kind; a click answers with what was meant. */
export default function draw({ data, parentElement, setTriggerValue }) {
  const { header } = unpack(data);
  const root = parentElement.querySelector(".switchboard");
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
    made.onclick = () => answerAll(root, setTriggerValue, place);
    made.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      buttons[buttons.indexOf(made) + step]?.focus();
    };
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
