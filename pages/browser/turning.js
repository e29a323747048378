import { buttonOf, element } from "../../viz/canvas.js";
import { all, helpSheet, takesText } from "./keyboard.js";

// Turns slides by keys and buttons, in the app and in a talk that is saved as a file.

export const STEPS = { ArrowRight: 1, PageDown: 1, " ": 1, ArrowLeft: -1, PageUp: -1 };
const OF_SLIDERS = /^(Arrow|Home$|End$)/; // the keys that move a slider
const MARKS = /\*\*(?=\S)([^\n]*?\S)\*\*|\*(?=[^\s*])([^\n*]*?[^\s*])\*/;
const BLOCKED = "The browser blocked the speaker's window: allow pop-ups for this page, and press s again.";

/**
 * @typedef {object} Slides
 * @property {number} count
 * @property {() => number} at returns the number of the slide that is shown, from 1
 * @property {(to: number) => void} go shows the slide with a number
 * @property {() => ParentNode} [shown] returns the element that contains the pictures' controls
 * @property {Record<string, string>} controls for each key: the selector of the control that it clicks
 * @property {{ name: string, words: string }[]} keys all keys and what they do, for the help sheet
 * @property {Record<string, () => boolean | void>} [acts] actions of further keys; they return false if they do nothing
 * @property {(key: string) => boolean | undefined} [first] handles a key before everything else; undefined if it does not handle it
 * @property {(place: any) => boolean} escape handles Escape; returns whether it did anything
 * @property {(press: (key: string) => boolean) => { open: () => boolean }} speaker makes the speaker's window
 * @property {(words: string) => void} tell shows a message to the speaker
 */

/**
 * Make the bar, the black screen and the help sheet of slides, and listen for keys until `end`.
 * @param {any} root has `points`: true if the focus was last moved by a pointer, not by the Tab key
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
  /** Do what a key does on a slide; returns whether it does anything. */
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
  /** Handle a key before the pictures get it: the same key may do something else in a picture. */
  function onKey(event) {
    if (event.key === "Tab") root.points = false;
    if (isOther(event) || takesKey(event.composedPath()[0], event.key, root.points) || !press(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }
  /** Handle Escape if no picture has used it: a zoomed picture uses it to show the whole picture. */
  function onEscape(event) {
    if (event.key !== "Escape" || event.defaultPrevented || isOther(event)) return;
    if (!black.hidden) black.hidden = true;
    else if (!escape(event.composedPath()[0])) return;
    event.preventDefault();
  }
  /** Take the focus off a list after the speaker has chosen from it, so that keys turn slides. */
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

/** Switch full screen on or off; the talk then gets the Escape key, if the browser allows it. */
export function turnFullScreen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else
    document.documentElement
      .requestFullscreen?.()
      .then(() => navigator["keyboard"]?.lock?.(["Escape"]))
      .catch(() => {}); // if the browser refuses, the talk goes on in its window
}

export function turnButton(text, name, onclick) {
  return buttonOf("", text, onclick, { "aria-label": name, title: name });
}

/**
 * Return a text as nodes, with **bold** and *italic* as elements and all else as text.
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

/** Return the title of a slide as plain text, without the marks of bold and italic. */
export function plainTitle({ title, typed }) {
  return typed ? element("span", "", marked(title)).textContent : title;
}

/** Return the element with the title and the words of a slide; `alone` is true if it has no pictures. */
export function pageOf({ title, typed, words, question }, alone) {
  return element("div", alone ? "page alone" : "page", [
    element("h1", "", typed ? marked(title) : title),
    element("p", "words", marked(words)),
    ...(question.length ? [listOf(question)] : []),
  ]);
}

/** Return a question with a list of its answers, each read in its own direction. */
function listOf([asks, ...answers]) {
  const dir = "auto";
  const list = answers.map((answer) => element("li", "", answer, { dir }));
  return element("div", "question", [element("p", "", asks, { dir }), element("ul", "", list)]);
}

/** Return whether the focused element uses a key: a text box or list uses all, a slider some, a button Space.
 *
 * If `points` is true, the focus came by a click. Then only text boxes and lists use keys; other
 * elements leave them to the talk.
 */
export function takesKey(place, key, points) {
  if (takesText(place) || place.matches?.("select")) return true;
  if (points) return false;
  if (place.matches?.("input[type=range], [role=slider], input[type=radio]")) return OF_SLIDERS.test(key);
  return key === " " && place.matches?.("button, [role=button], summary, [tabindex='0'], input");
}
