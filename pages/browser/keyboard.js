import { begin, buttonOf, element } from "../../viz/canvas.js";

const WITHOUT_TEXT = ["range", "radio", "checkbox", "button", "submit", "reset", "image", "file", "color"].map(
  (type) => `[type=${type} i]`,
);
const PRESSED = "input:not([type=range i]), select, button, a, summary, [role=radio], [role=tab]";

/**
 * @typedef {object} Header
 * @property {{ key: string, name: string, words: string, choices: string[], step: number, selector: string }[]} keys
 */

/**
 * Listen for keys on the whole page, and click the controls that belong to them. For a choice in a
 * drop-down box, send the name of the choice and the step to the app.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  root.forget?.();
  const open = buttonOf("", "Keys: ?", help, { "aria-haspopup": "dialog" });
  root.replaceChildren(open);
  let sheet;

  /** Show a sheet with the keys that do something on the page now. */
  function help() {
    sheet?.remove();
    sheet = helpSheet(header.keys.filter((key) => drawn(key.choices) || controlOf(key)));
    root.append(sheet);
    sheet.showModal();
  }

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || keeps(event)) return;
    if (event.key === "?") {
      event.preventDefault();
      if (sheet?.open) sheet.close();
      else help();
      return;
    }
    if (sheet?.open) return;
    const key = header.keys.find((one) => one.key === event.key);
    if (!key) return;
    const choice = drawn(key.choices);
    const control = choice ? option(choice, key.step) : controlOf(key);
    if (choice && !control && choice.querySelector("[role=combobox]")) {
      event.preventDefault();
      answer([key.choices.find((name) => choice.matches(`.st-key-${name}`)), key.step]);
    }
    if (!control || control.disabled || control.closest("[inert]")) return;
    event.preventDefault();
    control.click();
  }
  document.addEventListener("keydown", pressed);
  root.forget = () => document.removeEventListener("keydown", pressed);
  return root.forget;
}

/** Make a dialog that lists keys and what they do. */
export function helpSheet(keys) {
  const terms = [...keys, { name: "?", words: "this sheet" }].flatMap(({ name, words }) => [
    element("dt", "", name),
    element("dd", "", words),
  ]);
  const close = buttonOf("", "Close", () => sheet.close());
  const content = [element("h2", "", "Keys"), element("dl", "", terms), close];
  const sheet = element("dialog", "", content, { "aria-label": "Keys" });
  return sheet;
}

/** Return whether an element is a box that text is typed into. */
export function takesText(place) {
  return place.isContentEditable || place.matches?.(`textarea, input:not(${WITHOUT_TEXT})`);
}

/** Return whether a key press is for the focused element: a text box, or a control that Space presses. */
function keeps(event) {
  const target = event.composedPath()[0];
  return takesText(target) || (event.key === " " && target.matches?.(PRESSED));
}

/** Return the element of the first of these choices that is visible on the page. */
function drawn(choices) {
  const there = choices.flatMap((name) => [...document.querySelectorAll(`.st-key-${name}`)]);
  return there.find((one) => one.checkVisibility());
}

/** Return the control that a key clicks, if it is on the page. */
function controlOf({ selector }) {
  return selector && all(selector)[0];
}

/** Return the option that is `step` places after the chosen one, for options that are side by side. */
function option(choice, step) {
  const options = [...choice.querySelectorAll("[role=radio]")];
  const chosen = options.findIndex((one) => one.getAttribute("aria-checked") === "true");
  return options[chosen + step];
}

/** Return all elements that match a selector, also within shadow roots. */
export function all(selector, root = /** @type {ParentNode} */ (document)) {
  return [
    ...root.querySelectorAll(selector),
    ...[...root.querySelectorAll("*")].flatMap((node) =>
      node.shadowRoot ? all(selector, node.shadowRoot) : [],
    ),
  ];
}
