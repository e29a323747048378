// Functions that all browser parts share: a part is a script that exports `draw`.

/**
 * The argument of `draw`: a picture's bytes, the element around it, and functions that send values
 * to the app. The bytes hold a Header, which each part documents.
 * @template Header
 * @typedef {object} Mount
 * @property {Uint8Array} data
 * @property {ParentNode} parentElement
 * @property {(name: string, value: unknown) => void} setTriggerValue
 * @property {(name: string, value: unknown) => void} setStateValue
 */

/**
 * Return a picture's header, the bytes of its array, its element, and a function that sends a
 * visitor's pick to the app.
 * @template Header
 * @param {Mount<Header>} mount
 * @returns {{ header: Header, array: Uint8Array, root: any, answer: (value: unknown) => void }}
 */
export function begin({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".picture");
  return { ...unpack(data), root, answer: answering(root, setTriggerValue) };
}

/**
 * Read a picture: the length of a JSON header, the header, and the bytes of an array.
 * @param {Uint8Array} bytes
 * @returns {{ header: any, array: Uint8Array }}
 */
export function unpack(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  return { header, array: bytes.slice(4 + length) };
}

/**
 * Return the bytes of a picture in the form that `unpack` reads.
 * @param {any} header
 * @param {Uint8Array | Float32Array} array
 */
export function pack(header, array = new Uint8Array()) {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const bytes = new Uint8Array(4 + text.length + array.byteLength);
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  bytes.set(text, 4);
  bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), 4 + text.length);
  return bytes;
}

const LOAD = Math.random(); // a random number for this load of the page: it tells new clicks from those before a reload
const RECENT = 5000; // milliseconds: each message repeats the values sent in this time, in case a message was lost
let clicks = 0;

/**
 * Return a function that sends values to the app, each with its own number. With each value it sends
 * again what the picture and its menu sent in the last seconds, because Streamlit may lose the first
 * of two quick clicks.
 * @returns {(value: unknown) => void}
 */
export function answering(root, setTriggerValue, name = "picked") {
  return (value) => {
    const part = root.getRootNode();
    const time = performance.now();
    const recent = (part.answers ?? []).filter((answer) => time - answer.time < RECENT);
    part.answers = [...recent, { name, time, number: ++clicks, value }];
    for (const kind of new Set(part.answers.map((answer) => answer.name))) {
      const given = part.answers.filter((answer) => answer.name === kind);
      setTriggerValue(kind, { load: LOAD, answers: given.map(({ number, value }) => [number, value]) });
    }
  };
}

/** Return a function that returns the stylesheet of a name in `styles`; each one is made only once. */
export function sheetsOf(styles) {
  /** @type {Record<string, CSSStyleSheet>} */
  const made = {};
  return (name) => {
    if (!made[name]) {
      made[name] = new CSSStyleSheet();
      made[name].replaceSync(styles[name]);
    }
    return made[name];
  };
}

/**
 * Make an element with a class, content and attributes; a text is never read as markup.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string | (Node | string)[]} content
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, className = "", content = "", attributes = {}) {
  const made = document.createElement(tag);
  made.className = className;
  if (typeof content === "string") made.textContent = content;
  else made.append(...content);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style") made.style.cssText = String(value); // saved files forbid a style that is set as an attribute
    else made.setAttribute(name, String(value));
  }
  return made;
}

/**
 * Make a button with a class, content and an action for a click.
 * @param {string} className
 * @param {string | (Node | string)[]} content
 * @param {((event: any) => void) | null} onclick
 */
export function buttonOf(className, content, onclick, attributes = {}) {
  const made = element("button", className, content, { type: "button", ...attributes });
  made.onclick = onclick;
  return made;
}

/**
 * Make the legend of a picture's colours: a mark in each colour, followed by its meaning.
 * @param {string[]} words
 * @param {string[]} colors
 */
export function legendOf(words, colors) {
  const entries = words.map((text, at) =>
    element("span", "entry", [element("span", "mark", "", { style: `background: ${colors[at]}` }), text]),
  );
  return element("p", "legend", entries);
}

/**
 * Make a bar that shows the colours of a scale, from its low end to its high end.
 * @param {string[]} colors
 */
export function rampOf(colors) {
  return element("span", "ramp", "", { style: `background: linear-gradient(to right, ${colors.join(",")})` });
}

export const SVG = "http://www.w3.org/2000/svg"; // only a name: nothing is loaded from it

/** Make an icon from an SVG path in a square of 16 pixels; it needs no font. */
export function icon(path) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  svg.appendChild(document.createElementNS(SVG, "path")).setAttribute("d", path);
  return svg;
}

/** Let the Tab key reach an element if it scrolls; fade its right edge if more is hidden there. */
export function scrollable(part, label) {
  const fade = () => {
    const rest = part.scrollWidth - part.clientWidth - part.scrollLeft;
    part.classList.toggle("goes-on", rest > 1);
  };
  part.watch?.disconnect();
  part.watch = new ResizeObserver(() => {
    const scrolls =
      part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight;
    part.toggleAttribute("tabindex", scrolls);
    if (scrolls) part.tabIndex = 0;
    fade();
  });
  part.watch.observe(part);
  for (const child of part.children) part.watch.observe(child);
  part.onscroll = fade;
  part.setAttribute("role", "group");
  part.setAttribute("aria-label", label);
  return part;
}

/** Return the factor by which an element is enlarged on the screen, such as on a slide. */
export function scaleOf(shown) {
  return shown.getBoundingClientRect().width / shown.offsetWidth || 1;
}

/** Return how many pixels, before enlargement, the top of `part` is below the top of `root`. */
export function topIn(root, part) {
  return (part.getBoundingClientRect().top - root.getBoundingClientRect().top) / scaleOf(root);
}

/** Return the size of letters as a multiple of the usual size: above 1 if a reader enlarged them. */
export const letterScale = () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;

const ROUNDED = 0.1; // pixels by which browsers may round a width
let listen = null; // while a picture is saved: a function that returns a canvas's context, which records all strokes; otherwise null

/** Return whether the picture is being saved in a file: files do not show what is pointed at. */
export const isSaved = () => listen !== null;

/** Return a canvas's 2D context that does not use the graphics card: with it, WebKit blurs letters beside the canvas on a slide. */
export const contextOf = (canvas) => canvas.getContext("2d", { willReadFrequently: true });

/**
 * Set a canvas's size in pixels, sharp on any display and any slide; return its 2D context.
 * @returns {CanvasRenderingContext2D}
 */
export function fitCanvas(canvas, width, height) {
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const shown = canvas.getBoundingClientRect().width || width;
  const scale = Math.abs(shown - width) > ROUNDED ? shown / width : 1;
  const ratio = (window.devicePixelRatio || 1) * scale;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = listen?.(canvas) ?? contextOf(canvas);
  context.scale(ratio, ratio);
  return context;
}

export const WORDS = 228; // pixels of width that words need next to a picture
const LEAST_ROOM = 300; // pixels: a picture is not fitted into less height than this

/** Return whether an element is on a slide. */
export const isStaged = (shown) => getComputedStyle(shown).getPropertyValue("--on-page") !== "";

/**
 * Return the room for a picture, in pixels before any enlargement.
 *
 * `fills` is true on a slide that sets the picture's height: the picture then gets the class
 * "staged", and the class "beside" if its words fit next to it. Elsewhere `height` is the distance
 * from the picture's top, with nothing scrolled, to the window's bottom. It is Infinity if that is
 * too little, or on a slide that sets no height, because such a slide is enlarged as a whole.
 * @returns {{ fills: boolean, beside: boolean, height: number }}
 */
export function roomOf(root) {
  const told = parseFloat(getComputedStyle(root).getPropertyValue("--room")) || 0;
  const fills = told > 0;
  const beside = fills && root.clientWidth > told + WORDS;
  root.classList.toggle("staged", fills);
  root.classList.toggle("beside", beside);
  return { fills, beside, height: fills ? told : isStaged(root) ? Infinity : roomBelow(root) };
}

function roomBelow(root) {
  let top = root.getBoundingClientRect().top;
  for (let up = root.parentNode; up; up = up.parentNode ?? up.host) top += up.scrollTop ?? 0;
  const room = Math.floor(innerHeight - top);
  return room < LEAST_ROOM ? Infinity : room;
}

/** Call `render(width)` now and whenever the root's width changes, until the next drawing.
 *
 * It is not called for the width `drawn`, at which the caller has just drawn the picture.
 * `root.redraw(listener)` draws the picture on the contexts that the listener returns, so that it
 * can be saved.
 */
export function onWidth(root, render, drawn = 0) {
  root.observer?.disconnect();
  let last = drawn;
  root.redraw = (listener) => {
    listen = listener;
    try {
      if (last) render(last);
    } finally {
      listen = null;
    }
    if (last) render(last); // draws the mark of what is pointed at, which is left out of the saved picture
  };
  root.observer = new ResizeObserver(() => {
    const width = Math.floor(root.clientWidth);
    if (width && width !== last) render((last = width));
  });
  root.observer.observe(root);
  return () => root.observer.disconnect();
}

/** Do the same as `onWidth`, and also call `render` when elements around the root change its room. */
export function onRoom(root, render, drawn = 0) {
  root.above?.disconnect();
  const forget = onWidth(root, render, drawn);
  let last = roomOf(root).height;
  root.above = new ResizeObserver(() => {
    const room = roomOf(root).height;
    if (room === last || !root.clientWidth) return;
    last = room;
    render(Math.floor(root.clientWidth));
  });
  for (let up = root.parentNode; up; up = up.parentNode ?? up.host) {
    if (up instanceof Element) root.above.observe(up);
  }
  return () => {
    root.above.disconnect();
    forget();
  };
}
