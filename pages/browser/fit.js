import { all } from "./keyboard.js";

const STAGE = { width: 1280, height: 720 }; // pixels that slides are laid out for
const SMALLEST = 0.7; // of that, on a phone, where slides may scroll
const PHONE = 640; // pixels of width up to which they do
const ZOOMS = Array.from({ length: 62 }, (_, step) => 0.4 * 1.03 ** step); // of pictures
const EACH = 80; // milliseconds between two looks at the pictures
const CALM = 2; // looks without a change after which pictures have taken their size
const LATEST = 25; // looks after which pictures are fitted though more may come

/**
 * Scale the slide to the screen, and its pictures to the room that the words leave.
 *
 * They become as large as fits, and smaller if they grow later; until then they are hidden.
 * @param {any} root keeps what was found, for the drawings to come
 * @param {{ size: number }} slide `size` is the share wanted of what fits
 * @returns {() => void} what ends it
 */
export function fitToScreen(root, slide) {
  const { style, dataset } = document.documentElement;
  root.zooms ??= {}; // of slides that were shown before
  const id = JSON.stringify(slide);
  if (root.fitted?.id !== id) root.fitted = { id, wanted: true, looks: 0 };
  const fitted = root.fitted;
  let seen = "";
  let calm = 0;
  let ended = false;

  function scale() {
    const scaled = Math.max(SMALLEST, Math.min(innerWidth / STAGE.width, innerHeight / STAGE.height));
    style.setProperty("--slide-scale", String(scaled));
    style.setProperty("--slide-height", `${innerHeight / scaled}px`);
  }
  function resized() {
    root.zooms = {};
    Object.assign(fitted, { wanted: true, looks: 0 });
    scale();
    if (innerWidth > PHONE) dataset.fitting = "";
  }
  /** Zoom the pictures, and tell those that can be of any height how much there is. */
  function zoomTo(zoom) {
    const stage = stageOf();
    style.setProperty("--slide-zoom", String(zoom));
    const height = stage ? boxOf(stage.parentElement).height / stage.currentCSSZoom : 0;
    style.setProperty("--slide-room", `${Math.floor(height)}px`);
  }
  async function look() {
    const isComing = document.querySelector("[data-test-script-state=running]") !== null;
    const [now, there] = [sizes(), held()];
    calm = now === seen ? calm + 1 : 0;
    seen = now;
    fitted.ran ||= isComing;
    fitted.looks++;
    if (calm < CALM || (isComing && fitted.looks < LATEST) || innerWidth <= PHONE) return;
    if (fitted.ran && now !== fitted.sizes) fitted.wanted = true; // other pictures have come
    fitted.ran = false;
    if (fitted.wanted || (calm === CALM && !fits())) {
      fitted.wanted = isComing;
      const zoom = await largestZoom(zoomTo, fits, () => ended);
      if (ended) return;
      zoomTo((root.zooms[id] = zoom * slide.size));
      await drawn();
      seen = fitted.sizes = sizes();
      if (held() !== there) [fitted.wanted, calm] = [true, 0]; // others have come meanwhile
    }
    delete dataset.fitting;
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
    clearTimeout(waiting);
    delete dataset.fitting;
    removeEventListener("resize", resized);
  };
}

/** The largest zoom at which pictures fit, found by trying; it ends early if nobody waits for it. */
export async function largestZoom(zoomTo, isFitting, isEnded = () => false) {
  let [low, high] = [0, ZOOMS.length - 1];
  await zoomTo(ZOOMS[low]); // a picture whose width stays would not hear of another height
  await drawn();
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    await zoomTo(ZOOMS[middle]);
    await drawn();
    if (isEnded()) break;
    if (isFitting()) low = middle;
    else high = middle - 1;
  }
  return ZOOMS[low];
}

/** @returns {HTMLElement | null} */
const stageOf = () => document.querySelector(".st-key-stage");
const boxOf = (node) => node.getBoundingClientRect();
const picturesOf = (stage) => [...stage.querySelectorAll("[class*=st-key-on-]")];

/** What the pictures on the stage are and how large, to compare. */
function sizes() {
  const stage = stageOf();
  const found = stage ? picturesOf(stage) : [];
  return found
    .map((node) => `${node.className} ${Math.round(boxOf(node).width)} ${Math.round(boxOf(node).height)}`)
    .concat(`${innerWidth} ${innerHeight}`)
    .join();
}

/** What stands on the stage, and how high that is, however it is zoomed. */
function held() {
  const stage = stageOf();
  if (!stage) return "";
  const keyed = [...stage.querySelectorAll("[class*=st-key-]")].map((node) => node.className);
  return [Math.round(boxOf(stage.parentElement).height), ...keyed].join();
}

/** Whether every picture is whole on the stage, without a part that scrolls. */
function fits() {
  const stage = stageOf();
  return !stage || areWhole(picturesOf(stage), stage.parentElement);
}

/** Whether pictures are no higher than what holds them, without a part that scrolls. */
export function areWhole(pictures, holder) {
  const { height } = boxOf(holder);
  return pictures.every(
    (node) =>
      boxOf(node).height <= height + 1 &&
      node.scrollWidth <= node.clientWidth + 1 &&
      !all("*", node).some(scrolls),
  );
}

function scrolls(node) {
  if (node.scrollWidth <= node.clientWidth + 1 && node.scrollHeight <= node.clientHeight + 1) return false;
  return /auto|scroll/.test(getComputedStyle(node).overflow);
}

/** Wait until what was changed is drawn, and the pictures have heard of their width. */
export const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
