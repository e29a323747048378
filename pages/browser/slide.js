import { begin, element } from "../../viz/canvas.js";
import { all } from "./keyboard.js";

/**
 * @typedef {object} Header
 * @property {string} title
 * @property {string} words
 * @property {number} number of the slide, from 1
 * @property {number} count
 * @property {Record<string, string>} players by the key that clicks it: what a control of a player is
 */

const STAGE = { width: 1280, height: 720 }; // pixels that slides are laid out for
const SMALLEST = 0.7; // of that, on a phone, where slides may scroll
const STEPS = { ArrowRight: 1, PageDown: 1, " ": 1, ArrowLeft: -1, PageUp: -1 };
const OF_SLIDERS = /^(Arrow|Home$|End$)/; // keys
const SETTLED = 300; // milliseconds after which pictures have taken their size
const AGAIN = 3000; // milliseconds after which a slide is asked for again
const SHRINK = 0.95;
const FITS = [1, 0.5]; // largest and smallest size of pictures that do not fit at their own

/**
 * Write a slide's words, turn slides by keys and buttons, and fit them to the screen.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  const { title, words, number, count, players } = header;
  root.forget?.();
  // What was asked for last may be ahead of the slide that came.
  if (root.wanted === number) root.wanted = undefined;
  let at = root.wanted || number;

  const back = turnButton("‹", "Previous slide", () => go(at - 1));
  const on = turnButton("›", "Next slide", () => go(at + 1));
  const leave = turnButton("×", "Leave the talk", stop);
  const counter = element("span", "counter", "", { "aria-live": "polite" });
  const turn = element("div", "turn", "", { role: "group", "aria-label": "Slides" });
  turn.append(back, counter, on, leave);
  const black = root.querySelector(".black") ?? element("div", "black", "", { hidden: "" });
  black.onclick = () => (black.hidden = true);
  root.replaceChildren(element("h1", "", title), element("p", "words", words), turn, black);
  show();

  function go(to) {
    const next = Math.max(1, Math.min(count, to));
    if (next === at) return;
    at = root.wanted = next;
    show();
    ask();
  }
  function stop() {
    root.wanted = 0;
    ask();
  }
  /** Ask for the slide that is wanted, 0 for none, until it comes: an answer may be lost. */
  function ask() {
    clearTimeout(root.asking);
    if (root.wanted === undefined || !root.isConnected) return;
    answer(root.wanted);
    root.asking = setTimeout(ask, AGAIN);
  }
  function show() {
    counter.textContent = `${at} / ${count}`;
    back.disabled = at === 1;
    on.disabled = at === count;
  }
  /** Before the pictures hear of it: they have keys of their own, for when they are on a page. */
  function onKey(event) {
    const { key } = event;
    const place = event.composedPath()[0];
    if (key === "Tab") root.points = false;
    if (event.ctrlKey || event.metaKey || event.altKey || takesKey(place, key, root.points)) return;
    const control = key in players && all(players[key]).find((one) => one.checkVisibility());
    if (control) control.click();
    else if (key === "b" || key === "B" || key === ".") black.hidden = !black.hidden;
    else if (key in STEPS) go(at + STEPS[key]);
    else if (key === "Home") go(1);
    else if (key === "End") go(count);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  /** After the pictures: one that shows a part of itself shows all first. */
  function onEscape(event) {
    if (event.key !== "Escape" || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
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
  const stopFitting = fitToScreen(root.number !== number);
  root.number = number;
  root.forget = () => {
    for (const listener of listeners) document.removeEventListener(...listener);
    stopFitting();
  };
  return root.forget;
}

/**
 * Scale the slide to the screen, and shrink pictures that are too tall for it.
 * @param {boolean} isNew whether the pictures begin at their own size
 * @returns {() => void} what ends it
 */
function fitToScreen(isNew) {
  const style = document.documentElement.style;
  const main = document.querySelector("[data-testid=stMain]");
  let waiting = 0;
  let measured = -1; // height of the slide at the last look
  function scale() {
    const fitting = Math.min(innerWidth / STAGE.width, innerHeight / STAGE.height);
    style.setProperty("--slide-scale", String(Math.max(SMALLEST, fitting)));
    check();
  }
  function check() {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const isComing = document.querySelector("[data-test-script-state=running]");
      if (isComing || main.scrollHeight !== measured) {
        measured = main.scrollHeight;
        return check();
      }
      if (innerWidth < STAGE.width / 2) return;
      // Anew each time: what was too tall while it came may fit now.
      for (let fit = FITS[0]; fit >= FITS[1]; fit *= SHRINK) {
        style.setProperty("--slide-fit", String(fit));
        if (main.scrollHeight <= main.clientHeight + 1) break;
      }
      measured = main.scrollHeight;
    }, SETTLED);
  }
  if (isNew) style.setProperty("--slide-fit", String(FITS[0]));
  const observer = new ResizeObserver(check);
  observer.observe(main.firstElementChild);
  addEventListener("resize", scale);
  scale();
  return () => {
    clearTimeout(waiting);
    observer.disconnect();
    removeEventListener("resize", scale);
  };
}

function turnButton(text, name, onclick) {
  const button = element("button", "", text, { type: "button", "aria-label": name, title: name });
  button.onclick = onclick;
  return button;
}

/** Whether what has the focus needs a key for itself: any in a text box, some in a slider or button.
 *
 * What a speaker points at to click it does not: the keys that follow are those of the talk.
 */
function takesKey(place, key, points) {
  if (place.isContentEditable || place.matches?.("textarea, select")) return true;
  if (place.matches?.("input:not([type=range], [type=radio], [type=checkbox])")) return true;
  if (points) return false;
  if (place.matches?.("input[type=range], [role=slider], input[type=radio]")) return OF_SLIDERS.test(key);
  return key === " " && place.matches?.("button, [role=button], summary, [tabindex='0'], input");
}
