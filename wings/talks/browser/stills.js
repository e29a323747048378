import { begin } from "../../../viz/canvas.js";
import { CHARTS } from "../../../pages/streamlit_fixes/dom.js";
import { whenBack } from "../../../pages/browser/connection.js";
import { canvasOf } from "../../../pages/browser/dots.js";
import { areWhole, drawn, largestZoom } from "../../../pages/browser/fit.js";
import { all } from "../../../pages/browser/keyboard.js";
import { pictureIn, whenDrawn } from "./thumbnail.js";
import { CONTROLS, toSvg } from "../../../pages/browser/to_svg.js";

/**
 * @typedef {object} Header
 * @property {Record<string, string>} pictures the CSS selectors of the pictures, by key
 * @property {number} number the number of the request
 * @property {"webp" | "png"} type the format of the images
 * @property {{ width: number, height: number, size: number } | null} room the width and height in pixels for all pictures of a slide, and their size as a share of the largest that fits
 */

const TWICE = 2; // an image is this many times as large as the picture on the page or slide
const ROUNDED = 2; // pixels by which rounding may make pictures too high
const HEARD = 200; // milliseconds between two looks at the sizes of charts, because charts change size late
const MOST_LOOKS = 40; // the largest number of looks at a page that keeps changing
const QUALITY = 0.92; // the quality of WebP images, from 0 to 1

/**
 * Make images of pictures once they have appeared, and send them to the app; after a lost connection,
 * send them again.
 * @param {import("../../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  if (root.asked === header.number) return;
  root.asked = header.number;
  const isEnded = () => root.asked !== header.number || !root.isConnected;
  const [keys, selectors] = [Object.keys(header.pictures), Object.values(header.pictures)];
  whenDrawn(selectors, isEnded, async () => {
    const zoom = header.room ? await fitted(header.room, isEnded) : 1;
    if (isEnded()) return;
    const images = {};
    for (const [at, picture] of selectors.map(pictureIn).entries()) {
      images[keys[at]] = picture ? await still(picture, TWICE * zoom, header.type) : null;
    }
    const give = () => answer({ number: header.number, images });
    give();
    const stop = whenBack(() => (isEnded() ? stop() : give()));
  });
}

/** Enlarge all pictures of a slide as far as they fit into an area; return the factor. */
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

/** Hide the pictures' controls: images have none, and the pictures can use the space. */
function withoutControls(stage) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`${CONTROLS} { display: none !important; }`);
  for (const { shadowRoot } of all("*", stage)) shadowRoot?.adoptedStyleSheets.push(sheet);
}

/** Wait until no picture changes its size any more, because charts change size late. */
async function calm(pictures) {
  let before = "";
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const now = pictures.map(({ offsetWidth, offsetHeight }) => [offsetWidth, offsetHeight]).join();
    if (now === before) return;
    before = now;
    await new Promise((done) => setTimeout(done, HEARD));
  }
}

/** Return the data address of an image of a picture, or null if the browser cannot draw it. */
async function still(picture, scale, type) {
  try {
    const canvas = await canvasOf(toSvg(picture, "", ""), scale);
    return canvas.toDataURL(`image/${type}`, QUALITY);
  } catch {
    return null;
  }
}
