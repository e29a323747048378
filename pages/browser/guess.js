import { begin, element } from "../../viz/canvas.js";
import { board, moveInRows } from "../../viz/switches/board.js";

/**
 * @typedef {object} Header
 * @property {string} asks the question
 * @property {{ text: string, label: string }[]} options what can be guessed, in short and in words
 * @property {{ label: string, layers: number, heads: number }[]} boards how the options stand if they are heads; else none
 * @property {string} said of the guess and the answer; empty as long as nothing was guessed
 */

const TOLD = -1; // in place of a guess: the answer was asked for

/**
 * Ask a question, with a button for every answer, or say what came of it. The place of the guess is
 * this part's state, which Streamlit forgets when the part is not drawn any more.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root } = begin(mount);
  const { asks, said } = header;
  const guess = (place) => mount.setStateValue("guess", place);
  const hadFocus = root.matches(":focus-within");
  root.classList.toggle("answered", said !== "");
  const verdict = element("p", "said", said, { role: "status", tabindex: "-1" });
  const reveal = element("button", "control reveal", said ? "Ask again" : "Show the answer", { type: "button" });
  reveal.onclick = () => guess(said ? null : TOLD);
  if (said) {
    root.replaceChildren(verdict, reveal);
    if (hadFocus) verdict.focus({ preventScroll: true });
    return;
  }
  const options = buttonsOf(header, guess);
  root.replaceChildren(element("p", "asks", asks), options, verdict, reveal);
  if (hadFocus) options.querySelector("button")?.focus({ preventScroll: true });
}

/** A button for every option, heads on boards of layers and heads; arrow keys go between them. */
function buttonsOf({ asks, options, boards }, guess) {
  const buttons = options.map(({ text, label }, place) => {
    const attributes = { type: "button", title: label, "aria-label": label, tabindex: place ? "-1" : "0" };
    const button = element("button", boards.length ? "head" : "control option", text, attributes);
    button.onclick = () => guess(place);
    button.onkeydown = (event) => moveInRows(event, rows);
    return button;
  });
  const shapes = boards.length ? boards : [{ label: asks, layers: 1, heads: buttons.length }];
  const left = [...buttons];
  const rows = shapes.flatMap(({ layers, heads }) => Array.from({ length: layers }, () => left.splice(0, heads)));
  const group = element("div", boards.length ? "boards" : "options", "", { role: "group", "aria-label": asks });
  const unplaced = [...rows];
  const tables = boards.map(({ label, layers, heads }) => {
    const columns = Array.from({ length: heads }, (_, head) => element("span", "", String(head + 1)));
    const named = unplaced.splice(0, layers).map((row, layer) => [element("span", "", `L${layer + 1}`), ...row]);
    return board(label, element("div", "heading", label), [[element("span"), ...columns], ...named]);
  });
  group.append(...(tables.length ? tables : buttons));
  return group;
}
