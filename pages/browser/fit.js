import { isRunning } from "../streamlit_fixes/dom.js";
import { all } from "./keyboard.js";

export const STAGE = { width: 1280, height: 720 }; // the size that slides are laid out for, in pixels
const SMALLEST = 0.7; // the smallest scale of a slide, in a small window
export const PHONE = 640; // the widest screen, in pixels, that is treated as a phone
const ZOOMS = Array.from({ length: 62 }, (_, step) => 0.4 * 1.03 ** step); // the scales to try for pictures
const GROWN = 200; // milliseconds after which pictures that grew in a saved talk are fitted again
const EACH = 80; // milliseconds between two checks of the pictures
const CORNER = ".st-key-corner"; // the corner of the slide, with the QR code of its link if it has one
const KEYED = ".st-key-stage [class*=st-key-], .st-key-corner";
const CALM = 2; // after this many checks without a change, pictures have their final sizes
const LATEST = 25; // after this many checks, pictures are fitted even if others may still come

/**
 * Scale the slide to the screen, and its pictures to the room that the words leave.
 *
 * Pictures get the largest size that fits, and are hidden until it is found. If they grow later,
 * they are fitted again.
 * @param {any} root the element that keeps the results, for later drawings
 * @param {{ size: number }} slide `size` is the wanted share of the largest size that fits
 * @returns {() => void} a function that stops this
 */
export function fitToScreen(root, slide) {
  const { style, dataset } = document.documentElement;
  root.zooms ??= {}; // the scales of pictures on slides that were shown before
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
    if (isComing || !calm) dataset.fitting ??= "again"; // the value "again" keeps the shown pictures visible
    if (calm < CALM || (isComing && fitted.looks < LATEST)) return;
    if (fitted.ran && there !== fitted.held) fitted.wanted = true; // other pictures have come
    fitted.ran = false;
    if (fitted.wanted || (calm === CALM && !fits())) {
      fitted.wanted = isComing;
      dataset.fitting = ""; // hides the pictures while sizes are tried
      searching = true;
      const zoom = await withCode(document.documentElement, document.querySelector(CORNER), () => largestZoom(zoomTo, fits, () => ended));
      searching = false;
      if (ended) return;
      zoomTo((root.zooms[id] = zoom * slide.size));
      await drawn();
      seen = sizes();
      fitted.held = held();
      if (fitted.held !== there) [fitted.wanted, calm] = [true, 0]; // other pictures have come
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
    fitted.wanted ||= searching; // a search that is stopped must be repeated: it leaves the pictures in a size that it tried
    clearTimeout(waiting);
    delete dataset.fitting;
    removeEventListener("resize", resized);
  };
}

/** Keep the pictures of a slide in a saved talk at `size` times the largest size that fits.
 *
 * Returns `begin`, which starts this, and `fit`, which fits the pictures once more. `code` is the
 * element with the QR code in the slide's corner, if there is one.
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
    stage.style.opacity = "0"; // hides the pictures while sizes are tried
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

/** Scale the pictures in a holder; `--slide-room` tells them how many pixels high they may be. */
function enlarge(style, holder, zoom) {
  style.setProperty("--slide-zoom", String(zoom));
  style.setProperty("--slide-room", `${Math.floor((holder?.clientHeight ?? 0) / zoom)}px`);
}

/** Place the QR code beside the pictures, or above them if they can be larger then; return their zoom. */
async function withCode(place, code, largest) {
  delete place.dataset.code;
  const beside = await largest();
  if (!code) return beside;
  place.dataset.code = "above";
  const above = await largest();
  if (above <= beside) delete place.dataset.code;
  return Math.max(above, beside);
}

/** Search for the largest zoom at which pictures fit, and return it; stops early once `isEnded()` is true. */
export async function largestZoom(zoomTo, isFitting, isEnded = () => false) {
  const last = ZOOMS.length - 1;
  let [low, high] = [0, last];
  async function fitsAt(step) {
    await zoomTo(ZOOMS[step]);
    await drawn();
    return isFitting();
  }
  await fitsAt(low); // begin with a small zoom: a picture notices a new height only if its width changes, too
  while (low < high && !isEnded()) {
    const middle = Math.ceil((low + high) / 2);
    if (await fitsAt(middle)) low = middle;
    else high = middle - 1;
    // Try the next larger zoom again: while pictures were still being drawn, it may have looked too large.
    if (low === high && low < last && (await fitsAt(low + 1))) [low, high] = [low + 1, last];
  }
  return ZOOMS[low];
}

/** @returns {HTMLElement | null} */
const stageOf = () => document.querySelector(".st-key-stage");
const boxOf = (node) => node.getBoundingClientRect();
const picturesOf = (stage) => [...stage.querySelectorAll("[class*=st-key-on-]")];

/** Return a text that lists the slide's pictures and their sizes: it differs once any of them changes. */
function sizes() {
  const stage = stageOf();
  const pictures = stage ? picturesOf(stage) : [];
  return pictures
    .map((node) => `${node.className} ${Math.round(boxOf(node).width)} ${Math.round(boxOf(node).height)}`)
    .concat(`${innerWidth} ${innerHeight}`)
    .join();
}

/** Return a text with the height for pictures and the names of the elements; the zoom does not change it. */
function held() {
  const stage = stageOf();
  if (!stage) return "";
  const keyed = [...document.querySelectorAll(KEYED)].map((node) => node.className);
  return [Math.round(boxOf(stage.parentElement).height), ...keyed].join();
}

/** Return whether all pictures fit on the slide, and none has a part that scrolls. */
function fits() {
  const stage = stageOf();
  return !stage || areWhole(picturesOf(stage), stage.parentElement);
}

/** Return whether all pictures together fit the height of their holder, and no part of them scrolls. */
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

/** Wait until changes are drawn, and pictures have noticed their new width. */
export const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
