import { begin, element } from "../../../viz/canvas.js";
import { isRunning } from "../../../pages/streamlit_fixes/dom.js";
import { imageOf } from "../../../pages/browser/dots.js";
import { all } from "../../../pages/browser/keyboard.js";
import { toSvg } from "../../../pages/browser/to_svg.js";

/**
 * @typedef {object} Header
 * @property {string} name under which the browser keeps all of them
 * @property {string} of the slide, by which `slide_list` finds it
 * @property {string[]} pictures CSS selectors of their elements
 * @property {string[]} slides all slides: pictures of others are forgotten
 * @property {number} number of the request
 */

const SIZE = { width: 320, height: 200 }; // dots
const QUALITY = 0.8;
const SETTLED = 400; // milliseconds after which pictures have their size
const MOST_LOOKS = 40; // at a page that keeps changing
const DRAWN = ".picture:not(.save-menu), .svg-container, .vega-embed";
const IMAGE = "data:image/";

let taken = 0; // number of the last request

/**
 * Keep a small picture of a slide once it is drawn, only in this browser.
 * @param {import("../../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header } = begin(mount);
  if (header.number === taken) return;
  taken = header.number;
  whenDrawn(header.pictures, () => header.number !== taken, async (pictures) => {
    if (!pictures.every(Boolean)) return;
    try {
      keepOnly(header.name, header.slides, [header.of, await small(pictures)]);
    } catch {
      // The picture's name then replaces it.
    }
  });
}

/** Call a function with some pictures once all are there, at rest and fitted to a slide, or after many checks. */
export function whenDrawn(selectors, isEnded, act) {
  let looks = 0;
  const look = () => {
    if (isEnded()) return;
    const pictures = selectors.map(pictureIn);
    const isFitted = !("fitting" in document.documentElement.dataset) && document.fonts.status === "loaded";
    const isComing = isRunning() || !isFitted || !pictures.every(Boolean);
    if (isComing && ++looks < MOST_LOOKS) setTimeout(look, SETTLED);
    else act(pictures);
  };
  setTimeout(look, SETTLED);
}

/** The small pictures that are kept, by slide; a damaged store is an empty one. */
export function thumbnails(name) {
  try {
    const kept = Object.entries(JSON.parse(localStorage.getItem(name) ?? "{}"));
    return new Map(kept.filter(([, image]) => typeof image === "string" && image.startsWith(IMAGE)));
  } catch {
    return new Map();
  }
}

/** Forget the small pictures of all slides but these; keep a new one, if there is one. */
export function keepOnly(name, slides, [of, image] = []) {
  const kept = thumbnails(name);
  const before = kept.size;
  for (const slide of kept.keys()) if (!slides.includes(slide)) kept.delete(slide);
  if (of) kept.set(of, image);
  else if (kept.size === before) return;
  try {
    if (kept.size) localStorage.setItem(name, JSON.stringify(Object.fromEntries(kept)));
    else localStorage.removeItem(name);
  } catch {
    // No room, or not allowed.
  }
}

/** The picture in an element of the page, if it is visible. */
export function pictureIn(selector) {
  const holders = [...document.querySelectorAll(selector)];
  return holders.flatMap((holder) => all(DRAWN, holder)).find((one) => one.checkVisibility() && one.clientWidth);
}

/** Ways to put a number of pictures into an image: the left, top, width and height of each as shares of it. */
function layouts(count) {
  const places = [...Array(count).keys()];
  const row = places.map((at) => [at / count, 0, 1 / count, 1]);
  const column = places.map((at) => [0, at / count, 1, 1 / count]);
  const first = [[0, 0, 0.5, 1], [0.5, 0, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5]]; // as on slides
  return count === 3 ? [row, column, first] : [row, column];
}

/** Where an image is drawn in its place, as large as fits. */
function boxIn([left, top, wide, high], { width, height }) {
  const scale = Math.min((SIZE.width * wide) / width, (SIZE.height * high) / height);
  const size = [width * scale, height * scale];
  return [SIZE.width * (left + wide / 2) - size[0] / 2, SIZE.height * (top + high / 2) - size[1] / 2, ...size];
}

/** Pictures in the layout that shows most of them, as the address of a small image. */
async function small(pictures) {
  const canvas = element("canvas");
  Object.assign(canvas, SIZE);
  const context = canvas.getContext("2d");
  const images = await Promise.all(pictures.map((picture) => imageOf(toSvg(picture, "", ""))));
  const boxes = layouts(images.length).map((layout) => images.map((image, at) => boxIn(layout[at], image)));
  const shown = (layout) => layout.reduce((area, [, , width, height]) => area + width * height, 0);
  const best = boxes.reduce((one, other) => (shown(other) > shown(one) ? other : one));
  paper(context, pictures[0]);
  images.forEach((image, at) => context.drawImage(image, ...best[at]));
  return canvas.toDataURL("image/webp", QUALITY);
}

/** Fill a canvas with the background colour of a picture. */
function paper(context, picture) {
  context.fillStyle = getComputedStyle(picture).getPropertyValue("--paper") || "#fff";
  context.fillRect(0, 0, context.canvas.width, context.canvas.height);
}
