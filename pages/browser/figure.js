// Saves a picture for a paper: in a chosen size, with or without title and caption.

import { element } from "../../viz/canvas.js";

const KEPT = "headlight-figure"; // the key under which the browser keeps the chosen options
const PRINTED = "headlight-printed";
const SIZES = { 1: "1 ×", 2: "2 ×", 3: "3 ×", 4: "4 ×", mm: "300 dpi" };
const TEXTS = { caption: "Title and caption", title: "Title only", none: "Picture only" };
const USUAL = { size: "2", text: "caption", width: "85" }; // 85 mm is the width of a paper's column
const [LEAST, MOST] = [10, 400]; // the narrowest and the widest figure, in mm
const DPI = 300;
const INCH = 25.4; // mm
const CSS_INCH = 96; // pixels
const HEAD = 33; // bytes of a PNG up to the end of its first chunk

/** Make the boxes for the size and the text of saved pictures; returns `element`, `update`, `chosen`. */
export function figureRow() {
  const boxOf = (label, options) =>
    element("select", "", Object.entries(options).map(([value, text]) => element("option", "", text, { value })), { "aria-label": label });
  const width = element("input", "", "", { type: "number", min: LEAST, max: MOST, required: "", "aria-label": "Width in mm" });
  const boxes = { size: boxOf("Size", SIZES), text: boxOf("Words", TEXTS), width };
  const ofWidth = element("span", "", [width, " mm wide"]);
  const root = element("div", "figure", [boxes.size, ofWidth, boxes.text], { role: "group", "aria-label": "Figure" });
  const show = () => (ofWidth.hidden = boxes.size.value !== "mm");

  /** Set the boxes to the options that were last chosen in any menu. */
  function update() {
    const kept = { ...USUAL, ...JSON.parse(localStorage.getItem(KEPT)) };
    for (const [name, box] of Object.entries(boxes)) {
      box.value = kept[name];
      box.value ||= USUAL[name];
    }
    show();
  }
  root.onchange = () => {
    const values = Object.entries(boxes).map(([name, box]) => [name, box.value]);
    localStorage.setItem(KEPT, JSON.stringify(Object.fromEntries(values)));
    show();
  };
  /** Return the chosen `text`, and the size: either `scale`, in dots per pixel, or `mm`, the width. */
  function chosen() {
    const [size, text] = [boxes.size.value, boxes.text.value];
    if (size !== "mm") return { text, scale: Number(size), mm: null };
    if (!width.checkValidity()) throw new Error(`Give a width from ${LEAST} to ${MOST} mm.`);
    return { text, scale: null, mm: Number(width.value) };
  }
  return { element: root, update, chosen };
}

/** Return how many dots per pixel make an SVG this many mm wide in print. */
export const scaleTo = (svg, mm) => Math.round((mm / INCH) * DPI) / Number(svg.getAttribute("width"));

/** Set the width of an SVG to this many mm. */
export function widen(svg, mm) {
  const [width, height] = ["width", "height"].map((side) => Number(svg.getAttribute(side)));
  svg.setAttribute("width", `${mm}mm`);
  svg.setAttribute("height", `${(mm * height) / width}mm`);
}

const PAGE = "svg { position: fixed; inset: 0 auto auto 0 } body { position: fixed }"; // keeps the picture on one printed page

/** Print an SVG on a page of its size, `mm` wide or as large as on the screen; its texts stay text. */
export async function printed(svg, mm, title) {
  widen(svg, mm ?? (Number(svg.getAttribute("width")) / CSS_INCH) * INCH);
  const size = `${svg.getAttribute("width")} ${svg.getAttribute("height")}`;
  const style = element("style", "", `@page { size: ${size}; margin: 0 } ${PAGE}`);
  const parts = [element("meta", "", "", { charset: "utf-8" }), element("title", "", title), style];
  document.querySelector(`#${PRINTED}`)?.remove(); // removes the frame of the previous print, which had to stay while its print dialog was open
  const frame = element("iframe", "", "", { id: PRINTED, "aria-hidden": "true", tabindex: -1, style: "position: fixed; width: 0; height: 0; border: 0" });
  frame.srcdoc = `<!doctype html>${parts.map((part) => part.outerHTML).join("")}${svg.outerHTML}`;
  const loaded = new Promise((done) => (frame.onload = done));
  document.body.append(frame);
  await loaded;
  await frame.contentDocument.fonts.ready;
  frame.contentWindow.print();
}

/** Return a PNG with an entry that says how many dots per inch it has. */
export async function withDots(png) {
  const chunk = new DataView(new ArrayBuffer(21)); // length, type, dots per metre across and down, unit, checksum
  const type = [..."pHYs"].map((letter) => letter.charCodeAt());
  chunk.setUint32(0, 9);
  type.forEach((code, at) => chunk.setUint8(4 + at, code));
  for (const at of [8, 12]) chunk.setUint32(at, Math.round((DPI / INCH) * 1000));
  chunk.setUint8(16, 1);
  chunk.setUint32(17, checksum(new Uint8Array(chunk.buffer, 4, 13)));
  return new Blob([png.slice(0, HEAD), chunk, png.slice(HEAD)], { type: png.type });
}

/** Return the CRC-32 of some bytes. */
function checksum(bytes) {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return ~sum >>> 0;
}
