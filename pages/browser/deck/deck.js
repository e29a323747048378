import { element } from "../../../viz/canvas.js";
import { all, helpSheet } from "../keyboard.js";
import { takesKey, turnButton, turnFullScreen } from "../slide.js";
import { speakerOfFile } from "../speaker.js";
import { slideOf } from "./deck_slide.js";
import { mounting, PHONE } from "./live.js";

// A talk in one file: its slides, its keys and its windows, with nothing outside of the file.

/**
 * @typedef {object} Header
 * @property {string} title of the talk
 * @property {import("./deck_slide.js").SlideOfFile[]} slides
 * @property {string[]} data of pictures, as base64, each once
 * @property {Record<string, string>} controls by the key that clicks it: what a control of a picture is
 * @property {{ name: string, words: string }[]} keys all that can be pressed, for the help sheet
 * @property {Record<string, string>} labels by the part: what it is to those who cannot see it
 */

const STAGE = { width: 1280, height: 720 }; // pixels that slides are laid out for
const STEPS = { ArrowRight: 1, PageDown: 1, " ": 1, ArrowLeft: -1, PageUp: -1 };
const IN_OVERVIEW = { ArrowDown: 1, ArrowUp: -1 }; // rows
const SHOWN_FOR = 6000; // milliseconds of a notice
const BLOCKED = "The browser blocked the speaker's window: allow pop-ups for this file, and press s again.";

/**
 * Show the talk that the document holds as JSON.
 * @param {Record<string, import("./live.js").PartOfFile>} parts
 * @param {Record<string, string>} styles
 */
export function show(parts, styles) {
  /** @type {Header} */
  const talk = JSON.parse(document.getElementById("deck").textContent);
  const { title, controls, keys } = talk;
  const live = mounting(parts, styles, talk);
  const slides = talk.slides.map((slide, at) => slideOf(slide, at + 1, { ...live, tell }));
  const count = slides.length;
  let at = Math.max(1, Math.min(count, Number(location.hash.slice(1)) || 1));
  let points = false; // whether a pointer was used last, and not the Tab key

  const root = element("div", "slide");
  const deck = element("main", "deck");
  deck.append(...slides.map(({ frame }) => frame));
  const back = turnButton("‹", "Previous slide", () => go(at - 1));
  const on = turnButton("›", "Next slide", () => go(at + 1));
  const counter = element("span", "counter", "", { "aria-live": "polite" });
  const notice = element("p", "told", "", { role: "status" });
  const turn = element("div", "turn", "", { role: "group", "aria-label": "Slides" });
  turn.append(
    back,
    counter,
    on,
    turnButton("▦", "Overview", () => lookOver()),
    turnButton("◐", "Light or dark", turnTheme),
    turnButton("✎", "Speaker's window", openNotes),
    turnButton("?", "Keys", () => sheet.showModal()),
  );
  const black = element("div", "black", "", { hidden: "" });
  black.onclick = () => (black.hidden = true);
  const sheet = helpSheet(keys);
  const help = element("div", "keyboard");
  help.append(sheet);
  root.append(deck, turn, notice, black, help);
  document.title = title;
  document.body.append(root);

  const told = speakerOfFile(() => {
    const { title, notes } = talk.slides[at - 1];
    const next = talk.slides[at];
    const pictures = next?.pictures.map(({ what }) => what);
    return { title, notes, number: at, count, coming: next ? { title: next.title, pictures } : null };
  }, press);

  function go(to) {
    at = Math.max(1, Math.min(count, to));
    lookOver(false);
    turnTo();
  }
  function turnTo() {
    slides.forEach(({ frame, rest }, index) => {
      const isNow = index === at - 1;
      if (!isNow) rest();
      frame.classList.toggle("now", isNow);
      frame.inert = !isNow && !isOverview();
    });
    slides[at - 1].draw();
    counter.textContent = `${at} / ${count}`;
    back.disabled = at === 1;
    on.disabled = at === count;
    history.replaceState(null, "", `#${at}`);
    told.send();
  }
  /** Say something that a picture cannot do in a file. */
  function tell(words) {
    notice.textContent = words;
    clearTimeout(notice["clock"]);
    notice["clock"] = setTimeout(() => (notice.textContent = ""), SHOWN_FOR);
  }
  function openNotes() {
    tell(told.open() ? "" : BLOCKED);
  }
  function isOverview() {
    return deck.classList.contains("overview");
  }
  /** Show all slides, small, or one. */
  function lookOver(wanted = !isOverview()) {
    if (wanted === isOverview()) return;
    deck.classList.toggle("overview", wanted);
    for (const [index, { frame, choose, section, drawn }] of slides.entries()) {
      section.inert = wanted;
      frame.inert = !wanted && index !== at - 1;
      choose.hidden = !wanted;
      choose.onclick = () => go(index + 1);
      if (wanted && innerWidth > PHONE) drawn();
    }
    if (wanted) slides[at - 1].choose.focus();
    scale();
  }
  function moveInOverview(key) {
    const perRow = slides.findIndex(({ frame }) => frame.offsetTop > slides[0].frame.offsetTop);
    const step = STEPS[key] ?? IN_OVERVIEW[key] * (perRow < 1 ? count : perRow);
    const from = slides.findIndex(({ choose }) => choose === document.activeElement);
    slides[Math.max(0, Math.min(count - 1, Math.max(0, from) + step))].choose.focus();
  }
  /** Do what a key does; returns whether it does anything. */
  function press(key) {
    if (key === "o" || key === "O") lookOver();
    else if (isOverview() && key !== " " && (key in STEPS || key in IN_OVERVIEW)) moveInOverview(key);
    else if (isOverview() && key === " ") return false;
    else if (key in controls && click(controls[key])) return true;
    else if (key === "b" || key === "B" || key === ".") black.hidden = !black.hidden;
    else if (key === "f" || key === "F") turnFullScreen();
    else if (key === "d" || key === "D") turnTheme();
    else if (key === "s" || key === "S") openNotes();
    else if (key === "x" || key === "X") return slides[at - 1].ask();
    else if (key === "?") sheet.showModal();
    else if (key in STEPS) go(at + STEPS[key]);
    else if (key === "Home") go(1);
    else if (key === "End") go(count);
    else return false;
    return true;
  }
  function click(selector) {
    const control = all(selector, slides[at - 1].frame).find((one) => one.checkVisibility());
    control?.click();
    return control !== undefined;
  }
  /** Before the pictures hear of it, which have keys of their own. */
  function onKey(event) {
    const { key } = event;
    if (key === "Tab") points = false;
    if (event.ctrlKey || event.metaKey || event.altKey || sheet.open) return;
    if (takesKey(event.composedPath()[0], key, points) || !press(key)) return;
    event.preventDefault();
    event.stopPropagation();
  }
  /** After the pictures: one that shows a part of itself shows all first. */
  function onEscape(event) {
    if (event.key !== "Escape" || event.defaultPrevented || sheet.open) return;
    if (!black.hidden) black.hidden = true;
    else if (isOverview()) lookOver(false);
    else slides[at - 1].close();
  }
  function turnTheme() {
    setTheme(themeNow() === "dark" ? "light" : "dark");
  }
  function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    for (const part of all("*", deck)) part.redraw?.();
  }
  function scale() {
    const fits = Math.min(innerWidth / STAGE.width, innerHeight / STAGE.height);
    const { style } = document.documentElement;
    style.setProperty("--scale", String(fits));
    style.setProperty("--left", `${(innerWidth / fits - STAGE.width) / 2}px`);
    style.setProperty("--top", `${(innerHeight / fits - STAGE.height) / 2}px`);
  }

  document.addEventListener("pointerdown", () => (points = true), true);
  document.addEventListener("keydown", onKey, true);
  document.addEventListener("keydown", onEscape);
  document.addEventListener("input", (event) => {
    const place = /** @type {HTMLElement} */ (event.composedPath()[0]);
    if (points && place.matches("select")) place.blur();
  }, true);
  addEventListener("resize", scale);
  addEventListener("hashchange", () => go(Number(location.hash.slice(1)) || at));
  // Paper is white, whatever the screen is.
  addEventListener("beforeprint", () => {
    document.documentElement.dataset.before = themeNow();
    setTheme("light");
  });
  addEventListener("afterprint", () => setTheme(document.documentElement.dataset.before));
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  scale();
  turnTo();
  drawAll();

  /** Draw the other slides meanwhile, one by one, for the overview and for printing. */
  async function drawAll() {
    for (const { drawn } of slides) await drawn();
    document.documentElement.dataset.drawn = "";
  }
}

const themeNow = () => document.documentElement.dataset.theme;
