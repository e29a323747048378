import { begin, element } from "../../viz/canvas.js";
import { fitToScreen } from "./fit.js";
import { all, helpSheet } from "./keyboard.js";
import { marked } from "./marked.js";
import { speaker } from "./speaker.js";

/**
 * @typedef {object} Header
 * @property {string} title
 * @property {string} words **bold**, *italic* and line breaks are read
 * @property {number} number of the slide, from 1
 * @property {number} count
 * @property {number} asked which of the turns that were asked for this one is, from 1
 * @property {boolean} alone whether there are no pictures
 * @property {number} size share of the largest size at which its pictures fit
 * @property {string} notes for the speaker alone
 * @property {{ title: string, pictures: string[] } | null} coming what the speaker sees of the next slide
 * @property {Record<string, string>} controls by the key that clicks it: what a control of a picture is
 * @property {{ name: string, words: string }[]} keys all that can be pressed, for the help sheet
 */

const STEPS = { ArrowRight: 1, PageDown: 1, " ": 1, ArrowLeft: -1, PageUp: -1 };
const OF_SLIDERS = /^(Arrow|Home$|End$)/; // keys
const AGAIN = 3000; // milliseconds after which a slide is asked for again
const BLOCKED = "The browser blocked the speaker's window: allow pop-ups for this page, and press s again.";

/**
 * Write a slide's words, turn slides by keys and buttons, and fit them to the screen.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  const { asked, ...slide } = header;
  const { title, words, number, count, alone, controls } = header;
  root.forget?.();
  // What was asked for last may be ahead of the slide that came.
  if (root.asks === undefined || asked > root.asks) root.asks = asked;
  if (root.asks === asked) root.wanted = undefined;
  let at = root.wanted || number;

  const back = turnButton("‹", "Previous slide", () => go(at - 1));
  const on = turnButton("›", "Next slide", () => go(at + 1));
  const notes = turnButton("✎", "Speaker's window", openNotes);
  const leave = turnButton("×", "Leave the talk", stop);
  const counter = element("span", "counter", "", { "aria-live": "polite" });
  const notice = element("span", "notice", "", { role: "status" });
  const turn = element("div", "turn", "", { role: "group", "aria-label": "Slides" });
  turn.append(notice, back, counter, on, notes, leave);
  const black = root.querySelector(".black") ?? element("div", "black", "", { hidden: "" });
  black.onclick = () => (black.hidden = true);
  const cover = element("div", "cover"); // takes the clicks when the talk is left
  cover.hidden = root.wanted !== 0;
  const text = element("p", "words");
  text.append(...marked(words));
  const page = element("div", alone ? "page alone" : "page");
  page.append(element("h1", "", title), text);
  const sheet = helpSheet(header.keys);
  const help = element("div", "keyboard");
  help.append(sheet);
  root.replaceChildren(page, turn, black, cover, help);
  show();

  function go(to) {
    const next = Math.max(1, Math.min(count, to));
    if (next === at || root.wanted === 0) return;
    at = next;
    show();
    want(next);
  }
  function stop() {
    cover.hidden = false;
    if (document.fullscreenElement) document.exitFullscreen();
    want(0);
  }
  function want(slide) {
    root.wanted = slide;
    root.asks += 1;
    ask();
  }
  /** Ask for the slide that is wanted, 0 for none, until it comes: an answer may be lost. */
  function ask() {
    clearTimeout(root.asking);
    if (root.wanted === undefined || !root.isConnected) return;
    answer([root.wanted, root.asks]);
    root.asking = setTimeout(ask, AGAIN);
  }
  function show() {
    counter.textContent = `${at} / ${count}`;
    back.disabled = at === 1;
    on.disabled = at === count;
  }
  function openNotes() {
    notice.textContent = told.open() ? "" : BLOCKED;
  }
  /** Do what a key does on a slide; returns whether it does anything. */
  function press(key) {
    const control = key in controls && all(controls[key]).find((one) => one.checkVisibility());
    if (control) control.click();
    else if (key === "b" || key === "B" || key === ".") black.hidden = !black.hidden;
    else if (key === "f" || key === "F") turnFullScreen();
    else if (key === "s" || key === "S") openNotes();
    else if (key === "?") sheet.showModal();
    else if (key in STEPS) go(at + STEPS[key]);
    else if (key === "Home") go(1);
    else if (key === "End") go(count);
    else return false;
    return true;
  }
  /** Before the pictures hear of it: they have keys of their own, for when they are on a page. */
  function onKey(event) {
    const { key } = event;
    const place = event.composedPath()[0];
    if (key === "Tab") root.points = false;
    if (event.ctrlKey || event.metaKey || event.altKey || sheet.open) return;
    if (takesKey(place, key, root.points) || !press(key)) return;
    event.preventDefault();
    event.stopPropagation();
  }
  /** After the pictures: one that shows a part of itself shows all first. */
  function onEscape(event) {
    if (event.key !== "Escape" || event.defaultPrevented || sheet.open) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (!black.hidden) black.hidden = true;
    else if (takesKey(event.composedPath()[0], "Escape", root.points)) return;
    else stop();
    event.preventDefault();
  }
  /** A list from which a speaker has picked gives the keys back. */
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
  const told = speaker(header, press);
  const stopFitting = fitToScreen(root, slide);
  root.forget = () => {
    for (const listener of listeners) document.removeEventListener(...listener);
    told.end();
    stopFitting();
  };
  return () => {
    root.forget();
    told.leave();
  };
}

/** Fill the screen, with Escape for the talk where a browser lets it have that, or stop filling it. */
export function turnFullScreen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else
    document.documentElement
      .requestFullscreen?.()
      .then(() => navigator["keyboard"]?.lock?.(["Escape"]))
      .catch(() => {}); // a refusal leaves all as it is
}

export function turnButton(text, name, onclick) {
  const button = element("button", "", text, { type: "button", "aria-label": name, title: name });
  button.onclick = onclick;
  return button;
}

/** Whether what has the focus needs a key for itself: any in a text box, some in a slider or button.
 *
 * What a speaker points at to click it does not: the keys that follow are those of the talk.
 */
export function takesKey(place, key, points) {
  if (place.isContentEditable || place.matches?.("textarea, select")) return true;
  if (place.matches?.("input:not([type=range], [type=radio], [type=checkbox])")) return true;
  if (points) return false;
  if (place.matches?.("input[type=range], [role=slider], input[type=radio]")) return OF_SLIDERS.test(key);
  return key === " " && place.matches?.("button, [role=button], summary, [tabindex='0'], input");
}
