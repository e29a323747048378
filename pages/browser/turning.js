import { buttonOf, element } from "../../viz/canvas.js";
import { all, helpSheet, takesText } from "./keyboard.js";

// How slides are turned, by keys and buttons, in the app and in a file.

export const STEPS = { ArrowRight: 1, PageDown: 1, " ": 1, ArrowLeft: -1, PageUp: -1 };
const OF_SLIDERS = /^(Arrow|Home$|End$)/; // keys
const MARKS = /\*\*(?=\S)([^\n]*?\S)\*\*|\*(?=[^\s*])([^\n*]*?[^\s*])\*/;
const BLOCKED = "The browser blocked the speaker's window: allow pop-ups for this page, and press s again.";

/**
 * @typedef {object} Slides
 * @property {number} count
 * @property {() => number} at the slide that is shown, from 1
 * @property {(to: number) => void} go shows another
 * @property {() => ParentNode} [shown] the root of the pictures' controls
 * @property {Record<string, string>} controls by key: the selector of the control that it clicks
 * @property {{ name: string, words: string }[]} keys all that can be pressed, for the help sheet
 * @property {Record<string, () => boolean | void>} [acts] actions of further keys; false for none
 * @property {(key: string) => boolean | undefined} [first] handles a key before all others do; undefined if it does not
 * @property {(place: any) => boolean} escape handles Escape; returns whether it did anything
 * @property {(press: (key: string) => boolean) => { open: () => boolean }} speaker makes the speaker's window
 * @property {(words: string) => void} tell shows a message to the speaker
 */

/**
 * The bar, the black screen and the help sheet of slides; `end` stops their keys.
 * @param {any} root keeps whether a pointer was used last, not the Tab key
 * @param {Slides} slides
 */
export function turning(root, slides) {
  const { count, at, go, shown = () => document, controls, keys, acts = {}, first, escape, tell } = slides;
  const back = turnButton("‹", "Previous slide", () => go(at() - 1));
  const on = turnButton("›", "Next slide", () => go(at() + 1));
  const counter = element("span", "counter", "", { "aria-live": "polite" });
  const bar = element("div", "turn", [back, counter, on], { role: "group", "aria-label": "Slides" });
  const black = root.querySelector(".black") ?? element("div", "black", "", { hidden: "" });
  black.onclick = () => (black.hidden = true);
  const sheet = helpSheet(keys);
  const told = slides.speaker(press);
  const openNotes = () => tell(told.open() ? "" : BLOCKED);
  const turnBlack = () => void (black.hidden = !black.hidden);
  const turnSheet = () => (sheet.open ? sheet.close() : sheet.showModal());
  const actOf = {
    b: turnBlack,
    ".": turnBlack,
    f: turnFullScreen,
    s: openNotes,
    "?": turnSheet,
    Home: () => go(1),
    End: () => go(count),
    ...acts,
  };

  function show() {
    counter.textContent = `${at()} / ${count}`;
    back.disabled = at() === 1;
    on.disabled = at() === count;
  }
  /** Handle a key on a slide; returns whether it does anything. */
  function press(key) {
    const done = first?.(key);
    if (done !== undefined) return done;
    const control = key in controls && all(controls[key], shown()).find((one) => one.checkVisibility());
    const act = actOf[key.length === 1 ? key.toLowerCase() : key];
    if (control) control.click();
    else if (act) return act() !== false;
    else if (key in STEPS) go(at() + STEPS[key]);
    else return false;
    return true;
  }
  const isOther = (event) =>
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    (sheet.open ? event.key !== "?" : document.querySelector("dialog[open]") !== null);
  /** Runs before the pictures get the key: they have keys of their own, for pages. */
  function onKey(event) {
    if (event.key === "Tab") root.points = false;
    if (isOther(event) || takesKey(event.composedPath()[0], event.key, root.points) || !press(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }
  /** Runs after the pictures: a zoomed picture first shows all of itself. */
  function onEscape(event) {
    if (event.key !== "Escape" || event.defaultPrevented || isOther(event)) return;
    if (!black.hidden) black.hidden = true;
    else if (!escape(event.composedPath()[0])) return;
    event.preventDefault();
  }
  /** Give the keys back after the speaker has chosen from a list. */
  function onInput(event) {
    const place = event.composedPath()[0];
    if (root.points && place.matches("select")) place.blur();
  }
  const listeners = [
    ["pointerdown", () => (root.points = true), true],
    ["keydown", onKey, true],
    ["keydown", onEscape, false],
    ["input", onInput, false],
  ];
  for (const listener of listeners) document.addEventListener(...listener);
  return {
    bar,
    black,
    help: element("div", "keyboard", [sheet]),
    told,
    openNotes,
    turnSheet,
    show,
    end: () => listeners.forEach((listener) => document.removeEventListener(...listener)),
  };
}

/** Fill the screen, with Escape for the talk where a browser lets it have that, or stop filling it. */
export function turnFullScreen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else
    document.documentElement
      .requestFullscreen?.()
      .then(() => navigator["keyboard"]?.lock?.(["Escape"]))
      .catch(() => {}); // a refusal changes nothing
}

export function turnButton(text, name, onclick) {
  return buttonOf("", text, onclick, { "aria-label": name, title: name });
}

/**
 * A text as nodes: only **bold** and *italic* are read as marks.
 * @param {string} text
 * @returns {Node[]}
 */
function marked(text) {
  const match = MARKS.exec(text);
  if (!match) return text ? [document.createTextNode(text)] : [];
  const [whole, bold, italic] = match;
  const node = element(bold === undefined ? "em" : "strong", "", marked(bold ?? italic));
  const after = text.slice(match.index + whole.length);
  return [...marked(text.slice(0, match.index)), node, ...marked(after)];
}

/** The title of a slide in plain words, without the marks in one that somebody typed. */
export function plainTitle({ title, typed }) {
  return typed ? element("span", "", marked(title)).textContent : title;
}

/** The title and the words of a slide, `alone` if it has no pictures. */
export function pageOf({ title, typed, words }, alone) {
  return element("div", alone ? "page alone" : "page", [
    element("h1", "", typed ? marked(title) : title),
    element("p", "words", marked(words)),
  ]);
}

/** Whether what has the focus needs a key for itself: any in a text box, some in a slider or button.
 *
 * An element that the speaker has clicked does not: the keys after it are those of the talk.
 */
export function takesKey(place, key, points) {
  if (takesText(place) || place.matches?.("select")) return true;
  if (points) return false;
  if (place.matches?.("input[type=range], [role=slider], input[type=radio]")) return OF_SLIDERS.test(key);
  return key === " " && place.matches?.("button, [role=button], summary, [tabindex='0'], input");
}
