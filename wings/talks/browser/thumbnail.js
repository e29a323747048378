import { begin, element } from "../../../viz/canvas.js";
import { isRunning } from "../../../pages/streamlit_fixes/dom.js";
import { imageOf } from "../../../pages/browser/dots.js";
import { all } from "../../../pages/browser/keyboard.js";
import { toSvg } from "../../../pages/browser/to_svg.js";

/**
 * @typedef {object} Header
 * @property {string} name the name under which the browser keeps all thumbnails
 * @property {string} of the key of this thumbnail, by which `slide_list` finds it
 * @property {string[]} pictures the CSS selectors of the slide's pictures
 * @property {string[]} slides the keys of all thumbnails in use; all other thumbnails are deleted
 * @property {number} number the number of the request
 */

const SIZE = { width: 320, height: 200 }; // the size of a thumbnail in pixels
const QUALITY = 0.8; // the quality of WebP images, from 0 to 1
const SETTLED = 400; // milliseconds between two looks at the pictures; their sizes are usually final by then
const MOST_LOOKS = 40; // the largest number of looks at a page that keeps changing
const DRAWN = ".picture:not(.save-menu), .svg-container, .vega-embed";
const IMAGE = "data:image/";

let taken = 0; // the number of the last request

/**
 * Make a thumbnail of a slide once its pictures are drawn, and keep it in this browser only.
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
      // Without a thumbnail, the list shows the picture's name.
    }
  });
}

/** Call `act` with the pictures once all have appeared and fit their slide, or after `MOST_LOOKS` looks. */
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

/** Return the kept thumbnails by key; none if the stored text is damaged. */
export function thumbnails(name) {
  try {
    const kept = Object.entries(JSON.parse(localStorage.getItem(name) ?? "{}"));
    return new Map(kept.filter(([, image]) => typeof image === "string" && image.startsWith(IMAGE)));
  } catch {
    return new Map();
  }
}

/** Delete all thumbnails whose keys are not in `slides`; keep a new one, if given. */
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
    // The browser has no space for thumbnails, or does not allow the page to keep any.
  }
}

/** Return the visible picture in the elements with a CSS selector, if any. */
export function pictureIn(selector) {
  const holders = [...document.querySelectorAll(selector)];
  return holders.flatMap((holder) => all(DRAWN, holder)).find((one) => one.checkVisibility() && one.clientWidth);
}

/** Return the possible layouts of `count` pictures in an image: each picture's left, top, width and height as shares of the image. */
function layouts(count) {
  const places = [...Array(count).keys()];
  const row = places.map((at) => [at / count, 0, 1 / count, 1]);
  const column = places.map((at) => [0, at / count, 1, 1 / count]);
  const first = [[0, 0, 0.5, 1], [0.5, 0, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5]]; // the layout of a slide with three pictures
  return count === 3 ? [row, column, first] : [row, column];
}

/** Return the left, top, width and height in pixels at which an image fits into its place of a layout. */
function boxIn([left, top, wide, high], { width, height }) {
  const scale = Math.min((SIZE.width * wide) / width, (SIZE.height * high) / height);
  const size = [width * scale, height * scale];
  return [SIZE.width * (left + wide / 2) - size[0] / 2, SIZE.height * (top + high / 2) - size[1] / 2, ...size];
}

/** Draw pictures into one small image, in the layout that makes them largest; return its data address. */
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
