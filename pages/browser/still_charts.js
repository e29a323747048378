import { begin, element } from "../../viz/canvas.js";
import { imageOf, paper, pictureIn, RUNNING } from "./thumbnail.js";
import { toSvg } from "./to_svg.js";

/**
 * @typedef {object} Header
 * @property {Record<string, string>} charts CSS selectors of what holds them, by key
 * @property {number} number of the request
 */

const TWICE = 2; // the size of a chart on the page
const SETTLED = 400; // milliseconds after which charts have taken their size
const MOST_LOOKS = 40; // at a page that goes on changing
const QUALITY = 0.92;

/**
 * Draw charts as still images and answer with them, once they are there.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  if (root.asked === header.number) return;
  root.asked = header.number;
  let looks = 0;
  const look = async () => {
    if (root.asked !== header.number) return;
    const found = Object.entries(header.charts).map(([key, selector]) => ({ key, chart: pictureIn(selector) }));
    const isComing = document.querySelector(RUNNING) || !found.every(({ chart }) => chart);
    if (isComing && ++looks < MOST_LOOKS) return void setTimeout(look, SETTLED);
    const images = await Promise.all(found.map(async ({ key, chart }) => [key, chart ? await still(chart) : null]));
    answer({ number: header.number, images: Object.fromEntries(images) });
  };
  setTimeout(look, SETTLED);
}

/** A chart as the address of an image; nothing if the browser cannot draw it. */
async function still(chart) {
  try {
    const image = await imageOf(toSvg(chart, "", ""));
    const canvas = element("canvas");
    Object.assign(canvas, { width: TWICE * image.width, height: TWICE * image.height });
    const context = canvas.getContext("2d");
    paper(context, chart);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas.toDataURL("image/webp", QUALITY);
  } catch {
    return null;
  }
}
