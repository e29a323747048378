import { begin, element } from "../../viz/canvas.js";
import { all } from "./keyboard.js";
import { toSvg } from "./to_svg.js";

/**
 * @typedef {object} Header
 * @property {string} name under which the browser keeps all of them
 * @property {string} of the slide, by which `slide_list` finds it
 * @property {string[]} pictures CSS selectors of what holds them
 * @property {string[]} slides that there are: others are forgotten
 * @property {number} number of the request
 */

const SIZE = { width: 320, height: 200 }; // dots
const QUALITY = 0.8;
const SETTLED = 400; // milliseconds after which pictures have taken their size
const MOST_LOOKS = 40; // at a page that goes on changing
const DRAWN = ".picture:not(.save-menu), .svg-container, .vega-embed";
export const RUNNING = "[data-test-script-state=running]";
const IMAGE = "data:image/";

let taken = 0; // number of the last request

/**
 * Keep a small picture of what a slide shows, in this browser alone, once it is drawn.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header } = begin(mount);
  if (header.number === taken) return;
  taken = header.number;
  let looks = 0;
  const look = async () => {
    if (header.number !== taken || ++looks > MOST_LOOKS) return;
    const found = header.pictures.map(pictureIn);
    if (document.querySelector(RUNNING) || !found.every(Boolean)) return void setTimeout(look, SETTLED);
    try {
      keep(header, await small(found));
    } catch {
      // Then the picture's name stands for it.
    }
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

function keep({ name, of, slides }, image) {
  keepOnly(name, slides, [of, image]);
}

/** What is drawn in an element of the page, if it can be seen. */
export function pictureIn(selector) {
  const holders = [...document.querySelectorAll(selector)];
  return holders.flatMap((holder) => all(DRAWN, holder)).find((one) => one.checkVisibility() && one.clientWidth);
}

/** Pictures side by side, as the address of a small image. */
async function small(pictures) {
  const canvas = element("canvas");
  Object.assign(canvas, SIZE);
  const context = canvas.getContext("2d");
  const width = SIZE.width / pictures.length;
  for (const [at, picture] of pictures.entries()) {
    const image = await imageOf(toSvg(picture, "", ""));
    if (at === 0) paper(context, picture);
    const scale = Math.min(width / image.width, SIZE.height / image.height);
    const size = [image.width * scale, image.height * scale];
    context.drawImage(image, at * width + (width - size[0]) / 2, (SIZE.height - size[1]) / 2, ...size);
  }
  return canvas.toDataURL("image/webp", QUALITY);
}

/** Fill a canvas with the colour that a picture stands on. */
function paper(context, picture) {
  context.fillStyle = getComputedStyle(picture).getPropertyValue("--paper") || "#fff";
  context.fillRect(0, 0, context.canvas.width, context.canvas.height);
}

/** An SVG element as an image. */
async function imageOf(svg) {
  const text = new XMLSerializer().serializeToString(svg);
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = new Image(Number(svg.getAttribute("width")), Number(svg.getAttribute("height")));
    image.src = address;
    await image.decode();
    return image;
  } finally {
    URL.revokeObjectURL(address);
  }
}
