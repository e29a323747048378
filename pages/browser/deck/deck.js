import { element } from "../../../viz/canvas.js";
import { PHONE, STAGE } from "../fit.js";
import { all } from "../keyboard.js";
import { canShow } from "../needs.js";
import { speakerOfFile } from "../speaker.js";
import { STEPS, plainTitle, turnButton, turning } from "../turning.js";
import { slideOf } from "./deck_slide.js";
import { mounting } from "./mounting.js";

// Shows a talk that is saved as a file, with its slides, its keys and its speaker's window.

/**
 * @typedef {object} Header
 * @property {string} title the title of the talk
 * @property {import("./deck_slide.js").SlideOfFile[]} slides
 * @property {string[]} data the bytes of pictures, as base64, each stored once
 * @property {Record<string, string>} controls for each key: the selector of the control that it clicks
 * @property {{ name: string, words: string }[]} keys all keys and what they do, for the help sheet
 * @property {Record<string, string>} labels for each part: its label for screen readers
 */

const IN_OVERVIEW = { ArrowDown: 1, ArrowUp: -1 }; // how many rows each key moves the focus in the overview
const NO_MODEL = "The model is not in this file. Save the talk with the model inside to ask it here.";
const SHOWN_FOR = 6000; // milliseconds for which a notice is shown

/**
 * Show the talk that the document contains as JSON.
 * @param {Record<string, import("./mounting.js").PartOfFile>} parts
 * @param {Record<string, string>} styles
 */
export function show(parts, styles) {
  showTalk(parts, styles, null);
}

/**
 * Show the talk. If the file contains the model, `ask` opens it with the sentence, the head and the
 * changes of a slide.
 * @param {Record<string, import("./mounting.js").PartOfFile>} parts
 * @param {Record<string, string>} styles
 * @param {((scene: Record<string, string>) => void) | null} ask
 */
export function showTalk(parts, styles, ask) {
  if (!canShow()) return;
  /** @type {Header} */
  const talk = JSON.parse(document.getElementById("deck").textContent);
  const mountBytes = mounting(parts, styles, talk.labels);
  const bytesOf = (index) => Uint8Array.from(atob(talk.data[index]), (letter) => letter.charCodeAt(0));
  const mount = (host, name, from, answer = undefined) =>
    mountBytes(host, name, typeof from === "number" ? bytesOf(from) : from, answer);
  const live = { mount, bytesOf };
  const slides = talk.slides.map((slide, at) => slideOf(slide, at + 1, { ...live, tell, ask }));
  const count = slides.length;
  let at = Math.max(1, Math.min(count, Number(location.hash.slice(1)) || 1));

  const deck = element("main", "deck", slides.map(({ frame }) => frame));
  const notice = element("p", "told", "", { role: "status" });
  const root = element("div", "slide");
  const turns = turning(root, {
    ...talk,
    count,
    at: () => at,
    go,
    shown: () => slides[at - 1].frame,
    acts: { o: () => lookOver(), d: turnTheme, x: () => (ask ? ask(talk.slides[at - 1].scene) : tell(NO_MODEL)) },
    first: pressInOverview,
    escape() {
      if (isOverview()) lookOver(false);
      else slides[at - 1].close();
      return true;
    },
    tell,
    speaker: (press) => speakerOfFile(speakerSees, press),
  });
  turns.bar.append(
    turnButton("▦", "Overview", () => lookOver()),
    turnButton("◐", "Light or dark", turnTheme),
    turnButton("✎", "Speaker's window", turns.openNotes),
    turnButton("?", "Keys", turns.turnSheet),
  );
  root.append(deck, turns.bar, notice, turns.black, turns.help);
  document.title = talk.title;
  document.body.append(root);

  function speakerSees() {
    const [now, next] = talk.slides.slice(at - 1, at + 1);
    const coming = next ? { title: plainTitle(next), pictures: next.pictures.map(({ what }) => what) } : null;
    return { title: plainTitle(now), notes: now.notes, number: at, count, coming };
  }
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
    redraw();
    turns.show();
    history.replaceState(null, "", `#${at}`);
    turns.told.send();
  }
  /** Show a notice for some seconds, for example that something only works in the app. */
  function tell(words) {
    notice.textContent = words;
    clearTimeout(notice["clock"]);
    notice["clock"] = setTimeout(() => (notice.textContent = ""), SHOWN_FOR);
  }
  function isOverview() {
    return deck.classList.contains("overview");
  }
  /** Switch between the overview of all slides and the current slide. */
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
  /** Move the focus in the overview by a key; return undefined for keys that do the same as on a slide. */
  function pressInOverview(key) {
    if (!isOverview()) return undefined;
    if (key === " ") return false;
    if (!(key in STEPS || key in IN_OVERVIEW)) return undefined;
    const perRow = slides.findIndex(({ frame }) => frame.offsetTop > slides[0].frame.offsetTop);
    const step = STEPS[key] ?? IN_OVERVIEW[key] * (perRow < 1 ? count : perRow);
    const from = slides.findIndex(({ choose }) => choose === document.activeElement);
    slides[Math.max(0, Math.min(count - 1, Math.max(0, from) + step))].choose.focus();
    return true;
  }
  function turnTheme() {
    setTheme(themeNow() === "dark" ? "light" : "dark");
  }
  function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    for (const part of all("*", deck)) part.redraw?.();
  }
  /** Draw the pictures of the current slide again if its scale has changed, so that they are sharp. */
  function redraw() {
    const { frame } = slides[at - 1];
    const scale = document.documentElement.style.getPropertyValue("--scale");
    if (isOverview() || frame.dataset.scale === scale) return;
    frame.dataset.scale = scale;
    for (const part of all("*", frame)) part.redraw?.();
  }
  function scale() {
    const fits = Math.min(innerWidth / STAGE.width, innerHeight / STAGE.height);
    const { style } = document.documentElement;
    style.setProperty("--scale", String(fits));
    style.setProperty("--left", `${(innerWidth - fits * STAGE.width) / 2}px`);
    style.setProperty("--top", `${(innerHeight - fits * STAGE.height) / 2}px`);
    redraw();
  }

  addEventListener("resize", scale);
  addEventListener("hashchange", () => go(Number(location.hash.slice(1)) || at));
  // Printed slides have the light theme, because paper is white.
  addEventListener("beforeprint", () => {
    document.documentElement.dataset.before = themeNow();
    setTheme("light");
  });
  addEventListener("afterprint", () => setTheme(document.documentElement.dataset.before));
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  scale();
  turnTo();
  drawAll();

  /** Draw the other slides one by one in the background, for the overview and for printing. */
  async function drawAll() {
    for (const { drawn } of slides) await drawn();
    document.documentElement.dataset.drawn = "";
  }
}

const themeNow = () => document.documentElement.dataset.theme;
