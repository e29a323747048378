// What every browser part shares. A part imports it, and exports `draw`.

/**
 * What a part is given to draw with: a picture's bytes, where to, and a way to tell the page. The
 * bytes begin with a Header, which each part documents.
 * @template Header
 * @typedef {object} Mount
 * @property {Uint8Array} data
 * @property {ParentNode} parentElement
 * @property {(name: string, value: unknown) => void} setTriggerValue
 * @property {(name: string, value: unknown) => void} setStateValue
 */

/**
 * Begin to draw: a picture's header and the bytes of its array, its element, and how it answers.
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

const LOAD = Math.random(); // tells the clicks of this page from those before a reload
const RECENT = 5000; // milliseconds
let clicks = 0;

/**
 * A function that answers with a value, and again with those of the last seconds: of two quick
 * clicks Streamlit may forget the first. Each has a number of its own.
 * @returns {(value: unknown) => void}
 */
export function answering(root, setTriggerValue, name = "picked") {
  return (value) => {
    const time = performance.now();
    const recent = (root.answers ?? []).filter((answer) => time - answer.time < RECENT);
    root.answers = [...recent, { time, number: ++clicks, value }];
    const answers = root.answers.map((answer) => [answer.number, answer.value]);
    setTriggerValue(name, { load: LOAD, answers });
  };
}

/**
 * Make an element with a class, a text and attributes; a text is never read as markup.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, className = "", text = "", attributes = {}) {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style") made.style.cssText = String(value); // an attribute a file's policy forbids
    else made.setAttribute(name, String(value));
  }
  return made;
}

export const SVG = "http://www.w3.org/2000/svg"; // a name, from which nothing is loaded

/** A sign drawn as lines and faces in a square of 16, which no font has to have. */
export function icon(path) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  svg.appendChild(document.createElementNS(SVG, "path")).setAttribute("d", path);
  return svg;
}

/** Let a part that scrolls be reached, and so scrolled, by keyboard. */
export function scrollable(part, label) {
  part.watch?.disconnect();
  part.watch = new ResizeObserver(() => {
    const scrolls =
      part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight;
    part.toggleAttribute("tabindex", scrolls);
    if (scrolls) part.tabIndex = 0;
  });
  part.watch.observe(part);
  part.setAttribute("role", "group");
  part.setAttribute("aria-label", label);
  return part;
}

const ARROWS = new Map([
  ["ArrowUp", { down: -1, across: 0 }],
  ["ArrowDown", { down: 1, across: 0 }],
  ["ArrowLeft", { down: 0, across: -1 }],
  ["ArrowRight", { down: 0, across: 1 }],
]);

/** Which way an arrow key points; nothing for another key. */
export function arrowOf(event) {
  return ARROWS.get(event.key);
}

/** Have an arrow key move the focus from one of some buttons, of which so many stand in a row. */
export function moveFocus(event, buttons, columns = 0) {
  const arrow = arrowOf(event);
  if (!arrow) return;
  const at = buttons.indexOf(event.target);
  const next = buttons[at + arrow.down * columns + arrow.across];
  if (!next || next === event.target) return;
  event.preventDefault();
  next.focus();
}

/** How much larger than its own pixels an element is shown, as by the zoom of a slide. */
function zoomOf(shown) {
  return shown.currentCSSZoom ?? 1;
}

/** Where in an element, in its own pixels, a pointer is. */
export function pointerIn(shown, event) {
  const box = shown.getBoundingClientRect();
  const zoom = zoomOf(shown);
  return { x: (event.clientX - box.left) / zoom, y: (event.clientY - box.top) / zoom };
}

let listen = null; // while a picture is saved: makes a context that notes what is drawn

/** Whether what is drawn goes into a file, where nothing is pointed at. */
export const isSaved = () => listen !== null;

/**
 * Size a canvas to its place on screen, sharp on any display; returns its 2D context.
 * @returns {CanvasRenderingContext2D}
 */
export function fitCanvas(canvas, width, height) {
  const ratio = (window.devicePixelRatio || 1) * zoomOf(canvas);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = listen?.(canvas) ?? canvas.getContext("2d");
  context.scale(ratio, ratio);
  return context;
}

export const WORDS = 228; // pixels of width that words need beside a picture
const LEAST_ROOM = 300; // pixels of the window that a picture can be fitted into

/** Whether an element stands on a slide. */
export const isStaged = (shown) => getComputedStyle(shown).getPropertyValue("--on-page") !== "";

/**
 * The room for a picture, in its own pixels.
 *
 * `fills` tells whether it is on a slide that says how high it may be; the picture then has the
 * class "staged", and "beside" if its words find room beside it. Elsewhere the `height` is that of
 * the window from the picture's top on, if nothing is scrolled; Infinity if that is too little, or
 * on a slide, which is fitted as a whole.
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

/** Call `render(width)` now and whenever the root's width changes, for this drawing only.
 *
 * What was drawn just now, at a width, is not drawn at the same width again. `root.redraw(listener)`
 * draws once more, on the contexts that the listener makes.
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
  };
  root.observer = new ResizeObserver(() => {
    const width = Math.floor(root.clientWidth);
    if (width && width !== last) render((last = width));
  });
  root.observer.observe(root);
  return () => root.observer.disconnect();
}

/** The same, and also whenever what stands above the root moves it, and so its room. */
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

/**
 * Write the tokens of a matrix: of its rows on the left, of its columns slanted above.
 *
 * The first row and the first column begin at the matrix's own corner, unless it is scrolled.
 */
export function drawTokens(context, given) {
  const { rows, columns, side, left, top, color, firstRow = top, firstColumn = left } = given;
  context.fillStyle = color;
  context.textBaseline = "middle";
  context.textAlign = "right";
  rows.forEach((token, row) => {
    context.fillText(token, left - 8, firstRow + side * (row + 0.5), left - 10);
  });
  context.textAlign = "left";
  columns.forEach((token, column) => {
    context.save();
    context.translate(firstColumn + side * (column + 0.5), top - 8);
    context.rotate(-Math.PI / 3);
    context.fillText(token, 0, 0, top - 6);
    context.restore();
  });
}

/** Grey with a cross if there is room for one: what may not be looked at. */
export function cross(context, x, y, side, color) {
  context.globalAlpha = 0.15;
  context.fillStyle = color;
  context.fillRect(x, y, side, side);
  context.globalAlpha = 0.6;
  context.strokeStyle = color;
  context.lineWidth = 1;
  const [from, to] = [side * 0.35, side * 0.65];
  context.beginPath();
  context.moveTo(x + from, y + from);
  context.lineTo(x + to, y + to);
  context.moveTo(x + to, y + from);
  context.lineTo(x + from, y + to);
  context.stroke();
  context.globalAlpha = 1;
}
