import { element, unpack } from "../../../viz/canvas.js";
import { areWhole, drawn, largestZoom } from "../fit.js";

// The pictures of a file: drawn from its data, and as large as their slide lets them be.

export const PHONE = 640; // pixels of width up to which slides scroll
const GROWN = 200; // milliseconds after which a picture that grew is fitted anew

/**
 * @typedef {object} PartOfFile
 * @property {(part: any) => (() => void) | void} draw
 * @property {string[]} sheets
 */

/**
 * What draws a picture in an element, from its place in the data or from bytes, and reads the data.
 * @param {Record<string, PartOfFile>} parts
 * @param {Record<string, string>} styles
 * @param {{ data: string[], labels: Record<string, string> }} talk
 */
export function mounting(parts, styles, { data, labels }) {
  const sheets = {};
  const sheetOf = (style) => {
    sheets[style] ??= new CSSStyleSheet();
    sheets[style].replaceSync(styles[style]);
    return sheets[style];
  };
  const bytesOf = (place) => Uint8Array.from(atob(data[place]), (letter) => letter.charCodeAt(0));

  function mount(host, name, from, answer = (_value, _bytes) => {}) {
    const part = parts[name];
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const bytes = typeof from === "number" ? bytesOf(from) : from;
    const label = labels[name] ? { role: "group", "aria-label": labels[name] } : {};
    if (!root.firstChild) {
      root.adoptedStyleSheets = part.sheets.map(sheetOf);
      root.append(element("div", `picture ${name.replaceAll("_", "-")}`, "", label));
    }
    part.draw({
      data: bytes,
      parentElement: root,
      setStateValue: (_, value) => answer(value, bytes),
      setTriggerValue: (_, value) => answer(value.answers.at(-1)[1], bytes),
    });
  }
  return { mount, bytesOf };
}

/** A picture's bytes with other values in its header, and with another array if there is one. */
export function having(bytes, changes, numbers = undefined) {
  const { header, array } = unpack(bytes);
  const text = new TextEncoder().encode(JSON.stringify({ ...header, ...changes }));
  const body = numbers ? new Uint8Array(numbers.buffer) : array;
  const made = new Uint8Array(4 + text.length + body.length);
  new DataView(made.buffer).setUint32(0, text.length, true);
  made.set(text, 4);
  made.set(body, 4 + text.length);
  return made;
}

/** Keep the pictures of a stage as large as fits, times a size; returns what begins that, and does it anew. */
export function fitting(stage, size) {
  const holder = stage.parentElement;
  const pictures = [...stage.children];
  let waiting = null;
  let running = false;

  function zoomTo(zoom) {
    stage.style.setProperty("--slide-zoom", String(zoom));
    stage.style.setProperty("--slide-room", `${Math.floor(holder.clientHeight / zoom)}px`);
  }
  const isWhole = () => areWhole(pictures, holder);
  async function fit() {
    if (running || matchMedia("print").matches) return;
    if (innerWidth <= PHONE) {
      stage.style.removeProperty("--slide-zoom");
      stage.style.removeProperty("--slide-room");
      return;
    }
    running = true;
    zoomTo((await largestZoom(zoomTo, isWhole)) * size);
    await drawn();
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
