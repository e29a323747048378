import { isRunning } from "../streamlit_fixes/dom.js";
import { all } from "./keyboard.js";

export const STAGE = { width: 1280, height: 720 }; // pixels that slides are laid out for
const SMALLEST = 0.7; // of that size, in a small window
export const PHONE = 640; // pixels of width up to which a screen is a phone
const ZOOMS = Array.from({ length: 62 }, (_, step) => 0.4 * 1.03 ** step); // of pictures
const GROWN = 200; // milliseconds after which a grown picture of a file is fitted again
const EACH = 80; // milliseconds between two checks of the pictures
const CORNER = ".st-key-corner"; // of the slide, with the code of its scene
const KEYED = ".st-key-stage [class*=st-key-], .st-key-corner";
const CALM = 2; // checks without a change after which pictures have their size
const LATEST = 25; // checks after which pictures are fitted even if more may come

/**
 * Scale the slide to the screen, and its pictures to the room left by the words.
 *
 * They become as large as fits, and smaller if they grow later; until then they are hidden.
 * @param {any} root keeps the results, for later drawings
 * @param {{ size: number }} slide `size` is the share wanted of what fits
 * @returns {() => void} ends it
 */
export function fitToScreen(root, slide) {
  const { style, dataset } = document.documentElement;
  root.zooms ??= {}; // of slides that were shown before
  const id = JSON.stringify(slide);
  if (root.fitted?.id !== id) root.fitted = { id, wanted: true, looks: 0 };
  const fitted = root.fitted;
  let seen = "";
  let calm = 0;
  let searching = false;
  let ended = false;

  function scale() {
    const fitting = Math.min(innerWidth / STAGE.width, innerHeight / STAGE.height);
    const scaled = innerWidth <= PHONE ? 1 : Math.max(SMALLEST, fitting);
    style.setProperty("--slide-scale", String(scaled));
    style.setProperty("--slide-height", `${innerHeight / scaled}px`);
  }
  function resized() {
    root.zooms = {};
    Object.assign(fitted, { wanted: true, looks: 0 });
    scale();
    if (innerWidth > PHONE) dataset.fitting = "";
  }
  const zoomTo = (zoom) => enlarge(style, stageOf()?.parentElement, zoom);
  async function look() {
    const isComing = isRunning();
    const [now, there] = [sizes(), held()];
    calm = now === seen ? calm + 1 : 0;
    seen = now;
    fitted.ran ||= isComing;
    fitted.looks++;
    if (innerWidth <= PHONE) return;
    if (isComing || !calm) dataset.fitting ??= "again"; // what is shown stays so meanwhile
    if (calm < CALM || (isComing && fitted.looks < LATEST)) return;
    if (fitted.ran && there !== fitted.held) fitted.wanted = true; // other pictures have come
    fitted.ran = false;
    if (fitted.wanted || (calm === CALM && !fits())) {
      fitted.wanted = isComing;
      dataset.fitting = ""; // sizes that are only tried are not shown
      searching = true;
      const zoom = await withCode(document.documentElement, document.querySelector(CORNER), () => largestZoom(zoomTo, fits, () => ended));
      searching = false;
      if (ended) return;
      zoomTo((root.zooms[id] = zoom * slide.size));
      await drawn();
      seen = sizes();
      fitted.held = held();
      if (fitted.held !== there) [fitted.wanted, calm] = [true, 0]; // others have come meanwhile
    }
    if (isComing) dataset.fitting = "again";
    else delete dataset.fitting;
  }
  async function keepLooking() {
    await look();
    if (!ended) waiting = setTimeout(keepLooking, EACH);
  }

  scale();
  if (fitted.wanted && innerWidth > PHONE) {
    if (root.zooms[id]) zoomTo(root.zooms[id]);
    else dataset.fitting = "";
  }
  let waiting = setTimeout(keepLooking);
  addEventListener("resize", resized);
  return () => {
    ended = true;
    fitted.wanted ||= searching; // it leaves the pictures at a size that it tried
    clearTimeout(waiting);
    delete dataset.fitting;
    removeEventListener("resize", resized);
  };
}

/** Keep the pictures of a file's stage as large as fits, times a size; returns what starts it, or starts it again.
 *
 * The `code` of the scene is in a corner, if there is one.
 */
export function fitting(stage, size, code = null) {
  const holder = stage.parentElement;
  const pictures = [...stage.children];
  let waiting = null;
  let running = false;

  const zoomTo = (zoom) => enlarge(stage.style, holder, zoom);
  const isWhole = () => areWhole(pictures, holder);
  async function fit() {
    if (running || innerWidth <= PHONE || matchMedia("print").matches) return;
    running = true;
    stage.style.opacity = "0"; // sizes that are only tried are not shown
    zoomTo((await withCode(holder, code, () => largestZoom(zoomTo, isWhole))) * size);
    await drawn();
    stage.style.opacity = "";
    running = false;
  }
  const grown = new ResizeObserver(() => {
    clearTimeout(waiting);
    waiting = setTimeout(() => !running && innerWidth > PHONE && !isWhole() && fit(), GROWN);
  });
  return {
    async begin() {
      await drawn();
      await fit();
      for (const picture of pictures) grown.observe(picture);
      matchMedia(`(max-width: ${PHONE}px)`).addEventListener("change", fit);
    },
    fit,
  };
}

/** Enlarge the pictures in a holder, and tell those of flexible height how high they can be. */
function enlarge(style, holder, zoom) {
  style.setProperty("--slide-zoom", String(zoom));
  style.setProperty("--slide-room", `${Math.floor((holder?.clientHeight ?? 0) / zoom)}px`);
}

/** The largest zoom of a stage: with the code of its scene beside the pictures, or above if that leaves more. */
async function withCode(place, code, largest) {
  delete place.dataset.code;
  const beside = await largest();
  if (!code) return beside;
  place.dataset.code = "above";
  const above = await largest();
  if (above <= beside) delete place.dataset.code;
  return Math.max(above, beside);
}

/** The largest zoom at which pictures fit, by trying; it ends early once `isEnded`. */
export async function largestZoom(zoomTo, isFitting, isEnded = () => false) {
  const last = ZOOMS.length - 1;
  let [low, high] = [0, last];
  async function fitsAt(step) {
    await zoomTo(ZOOMS[step]);
    await drawn();
    return isFitting();
  }
  await fitsAt(low); // a picture with the same width would not notice another height
  while (low < high && !isEnded()) {
    const middle = Math.ceil((low + high) / 2);
    if (await fitsAt(middle)) low = middle;
    else high = middle - 1;
    // A picture that came late may have made a zoom look too large that is not.
    if (low === high && low < last && (await fitsAt(low + 1))) [low, high] = [low + 1, last];
  }
  return ZOOMS[low];
}

/** @returns {HTMLElement | null} */
const stageOf = () => document.querySelector(".st-key-stage");
const boxOf = (node) => node.getBoundingClientRect();
const picturesOf = (stage) => [...stage.querySelectorAll("[class*=st-key-on-]")];

/** The pictures on the stage and their sizes, to compare. */
function sizes() {
  const stage = stageOf();
  const pictures = stage ? picturesOf(stage) : [];
  return pictures
    .map((node) => `${node.className} ${Math.round(boxOf(node).width)} ${Math.round(boxOf(node).height)}`)
    .concat(`${innerWidth} ${innerHeight}`)
    .join();
}

/** The elements on the stage and their heights, independent of the zoom. */
function held() {
  const stage = stageOf();
  if (!stage) return "";
  const keyed = [...document.querySelectorAll(KEYED)].map((node) => node.className);
  return [Math.round(boxOf(stage.parentElement).height), ...keyed].join();
}

/** Whether every picture fits on the stage, without a part that scrolls. */
function fits() {
  const stage = stageOf();
  return !stage || areWhole(picturesOf(stage), stage.parentElement);
}

/** Whether pictures are together no higher than their holder, without a part that scrolls. */
export function areWhole(pictures, holder) {
  const boxes = pictures.map(boxOf);
  const height = Math.max(...boxes.map(({ bottom }) => bottom)) - Math.min(...boxes.map(({ top }) => top));
  return (
    height <= boxOf(holder).height + 1 &&
    pictures.every((node) => node.scrollWidth <= node.clientWidth + 1 && !all("*", node).some(scrolls))
  );
}

function scrolls(node) {
  if (node.scrollWidth <= node.clientWidth + 1 && node.scrollHeight <= node.clientHeight + 1) return false;
  return /auto|scroll/.test(getComputedStyle(node).overflow);
}

/** Wait until changes are drawn, and the pictures know their width. */
export const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
