import { begin, buttonOf, element } from "../../../viz/canvas.js";
import { boardOfHeads, moveInRows } from "../../../viz/switches/board.js";

/**
 * @typedef {object} Header
 * @property {string} asks the question
 * @property {{ text: string, label: string }[]} options the possible guesses: the text of a button and its description
 * @property {{ label: string, layers: number, heads: number }[]} boards for options that are heads: tables of buttons, a row for each layer; otherwise empty
 * @property {string} said words on the guess and the answer; empty before a guess
 */

const TOLD = -1; // sent as the guess of a visitor who asks for the answer

/**
 * Ask a question, with a button for every answer, or show the result. The state of this part is the
 * index of the guess; Streamlit forgets it when the part is no longer drawn.
 * @param {import("../../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root } = begin(mount);
  const { asks, said } = header;
  const guess = (place) => mount.setStateValue("guess", place);
  const hadFocus = root.matches(":focus-within");
  root.classList.toggle("answered", said !== "");
  const verdict = element("p", "said", said, { role: "status", tabindex: "-1" });
  const words = said ? "Ask again" : "Show the answer";
  const reveal = buttonOf("control reveal", words, () => guess(said ? null : TOLD));
  if (said) {
    root.replaceChildren(verdict, reveal);
    if (hadFocus) verdict.focus({ preventScroll: true });
    return;
  }
  const options = buttonsOf(header, guess);
  root.replaceChildren(element("p", "asks", asks), options, verdict, reveal);
  if (hadFocus) options.querySelector("button")?.focus({ preventScroll: true });
}

/** Return a button for every option; heads are in tables, a row for each layer. Arrow keys move between the buttons. */
function buttonsOf({ asks, options, boards }, guess) {
  const buttons = options.map(({ text, label }, place) => {
    const attributes = { title: label, "aria-label": label, tabindex: place ? "-1" : "0" };
    const button = buttonOf(boards.length ? "head" : "control option", text, () => guess(place), attributes);
    button.onkeydown = (event) => moveInRows(event, rows);
    return button;
  });
  const shapes = boards.length ? boards : [{ label: asks, layers: 1, heads: buttons.length }];
  const left = [...buttons];
  const rows = shapes.flatMap(({ layers, heads }) => Array.from({ length: layers }, () => left.splice(0, heads)));
  const unplaced = [...rows];
  const tables = boards.map(({ label, layers }) => boardOfHeads(label, unplaced.splice(0, layers)));
  const [name, content] = boards.length ? ["boards", tables] : ["options", buttons];
  return element("div", name, content, { role: "group", "aria-label": asks });
}
