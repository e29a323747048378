import { begin } from "../../viz/canvas.js";
import { canvasOf } from "./dots.js";
import { areWhole, drawn, largestZoom } from "./fit.js";
import { all } from "./keyboard.js";
import { pictureIn, RUNNING } from "./thumbnail.js";
import { CONTROLS, toSvg } from "./to_svg.js";

/**
 * @typedef {object} Header
 * @property {Record<string, string>} pictures CSS selectors of what holds them, by key
 * @property {number} number of the request
 * @property {"webp" | "png"} type of the images
 * @property {{ width: number, height: number, size: number } | null} room for the pictures of a slide, in pixels, and the share of what fits
 */

const TWICE = 2; // the size of a picture on the page, or on its slide
const SETTLED = 400; // milliseconds after which pictures have taken their size
const ROUNDED = 2; // pixels of height that pictures may be more than they are told
const HEARD = 200; // milliseconds after which charts have heard of their size
const MOST_LOOKS = 40; // at a page that goes on changing
const QUALITY = 0.92; // of WebP
const CHARTS = ".stPlotlyChart, .stVegaLiteChart"; // of other libraries

/**
 * Draw pictures as still images and answer with them, once they are there.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  if (root.asked === header.number) return;
  root.asked = header.number;
  let looks = 0;
  const isEnded = () => root.asked !== header.number || !root.isConnected;
  const look = async () => {
    if (isEnded()) return;
    const entries = () => Object.entries(header.pictures).map(([key, selector]) => [key, pictureIn(selector)]);
    const isComing = document.querySelector(RUNNING) || !entries().every(([, picture]) => picture);
    if (isComing && ++looks < MOST_LOOKS) return void setTimeout(look, SETTLED);
    const zoom = header.room ? await fitted(header.room, isEnded) : 1;
    if (isEnded()) return;
    const images = {};
    for (const [key, picture] of entries()) images[key] = picture ? await still(picture, TWICE * zoom, header.type) : null;
    answer({ number: header.number, images });
  };
  setTimeout(look, SETTLED);
}

/** Lay the stage out as large as its pictures fit into a room, and return how far that is zoomed. */
async function fitted({ width, height, size }, isEnded) {
  const stage = document.querySelector(".st-key-stage");
  const { style } = document.documentElement;
  const pictures = [...stage.querySelectorAll("[class*=st-key-on-]")];
  const zoomTo = (zoom) => {
    style.setProperty("--stage-width", `${width / zoom}px`);
    style.setProperty("--stage-height", `${height / zoom}px`);
    style.setProperty("--slide-room", `${Math.floor(height / zoom) - ROUNDED}px`);
    return stage.querySelector(CHARTS) ? calm(pictures) : null;
  };
  withoutControls(stage);
  const zoom = size * (await largestZoom(zoomTo, () => areWhole(pictures, stage.parentElement), isEnded));
  zoomTo(zoom);
  await drawn();
  await calm(pictures);
  return zoom;
}

/** Take away what an image will not have, so that the pictures have its room. */
function withoutControls(stage) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`${CONTROLS} { display: none !important; }`);
  for (const { shadowRoot } of all("*", stage)) shadowRoot?.adoptedStyleSheets.push(sheet);
}

/** Wait until nothing changes its size: charts hear of theirs late. */
async function calm(pictures) {
  let before = "";
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const now = pictures.map(({ offsetWidth, offsetHeight }) => [offsetWidth, offsetHeight]).join();
    if (now === before) return;
    before = now;
    await new Promise((done) => setTimeout(done, HEARD));
  }
}

/** A picture as the address of an image; nothing if the browser cannot draw it. */
async function still(picture, scale, type) {
  try {
    const canvas = await canvasOf(toSvg(picture, "", ""), scale);
    return canvas.toDataURL(`image/${type}`, QUALITY);
  } catch {
    return null;
  }
}
