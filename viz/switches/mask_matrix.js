import { arrowOf, begin, drawTokens, element, fitCanvas, onWidth, pointerIn, scrollable, themeColor } from "../canvas.js";

/**
 * @typedef {object} Header
 * @property {string[]} queries
 * @property {string[]} keys
 * @property {boolean} editable
 * @property {string} label
 * @property {string[]} words what a cell is, by its number
 */

const LARGEST = 30; // pixels of a cell's side
const SMALLEST = 13;
const LABEL = 92; // pixels for the tokens on either side
const SLANT = 28; // pixels that the last slanted token leans over the edge

// A cell is a number of two bits: whether it is visible, and whether that was changed by hand.
const isVisible = (state) => (state & 1) !== 0;
const isChanged = (state) => (state & 2) !== 0;
const turned = (state) => state ^ 3;

/**
 * Draw which keys each query may see; if editable, clicks, drags and keys change cells.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array: states, root, answer } = begin(mount);
  const { queries, keys, editable, label, words } = header;
  if (root.stroke) {
    // A drag under way goes on; its end asks for a new drawing.
    root.pending = mount;
    return;
  }
  const hadFocus = root.querySelector("canvas:focus") !== null;
  const canvas = element("canvas", editable ? "editable" : "", "", {
    role: editable ? "application" : "img",
    "aria-label": editable
      ? `${label}. Arrow keys move, space closes or opens the cell.`
      : `${label}: ${states.filter(isVisible).length} of ` +
        `${states.length} cells visible`,
    ...(editable && { tabindex: "0" }),
  });
  const reading = element("p", "reading", "", { "aria-live": "polite" });
  const sheet = element("div", "sheet");
  sheet.append(canvas);
  scrollable(sheet, "Mask");
  root.replaceChildren(sheet, reading);

  let side = LARGEST;
  let cursor = root.cursor ?? { query: 0, key: 0 };
  const at = ({ query, key }) => query * keys.length + key;
  const inside = ({ query, key }) =>
    query >= 0 && query < queries.length && key >= 0 && key < keys.length;
  const read = (cell) =>
    (reading.textContent =
      `“${queries[cell.query]}” looking at “${keys[cell.key]}”: ${words[states[at(cell)]]}`);

  function paint(cell) {
    const state = states[at(cell)];
    if (isVisible(state) === root.stroke.opened) return;
    states[at(cell)] = turned(state);
    root.stroke.cells.push([cell.query, cell.key]);
    render();
    read(cell);
  }
  function start(cell) {
    root.stroke = { opened: !isVisible(states[at(cell)]), cells: [] }; // of the drag under way
    paint(cell);
  }
  function finish() {
    const { stroke, pending } = root;
    root.stroke = root.pending = null;
    if (stroke?.cells.length) answer(stroke);
    else if (pending) draw(pending);
  }
  function cellUnder(event) {
    const { x, y } = pointerIn(canvas, event);
    return {
      query: Math.floor((y - LABEL) / side),
      key: Math.floor((x - LABEL) / side),
    };
  }

  canvas.onpointermove = (event) => {
    const cell = cellUnder(event);
    if (!inside(cell)) return;
    read(cell);
    if (root.stroke) paint(cell);
  };
  if (editable) {
    canvas.onpointerdown = (event) => {
      const cell = cellUnder(event);
      // A finger scrolls the page; it changes a cell by a tap, in onclick.
      if (event.pointerType === "touch" || event.button || !inside(cell)) return;
      event.preventDefault();
      canvas.setPointerCapture(event.pointerId);
      canvas.focus();
      moveTo(cell);
      start(cell);
    };
    canvas.onpointerup = canvas.onpointercancel = finish;
    canvas.onclick = (event) => {
      const cell = cellUnder(event);
      if (event.pointerType !== "touch" || !inside(cell)) return;
      start(cell);
      finish();
    };
    canvas.onkeydown = (event) => {
      const arrow = arrowOf(event);
      if (arrow) moveTo({ query: cursor.query + arrow.down, key: cursor.key + arrow.across });
      else if (event.key === " " || event.key === "Enter") {
        start(cursor);
        finish();
      } else return;
      event.preventDefault();
      read(cursor);
    };
    canvas.onfocus = canvas.onblur = () => render();
  }
  function moveTo(cell) {
    if (!inside(cell)) return;
    root.cursor = cursor = cell;
    render();
  }

  function render() {
    const style = getComputedStyle(root);
    const text = style.color;
    const accent = themeColor(root, "accent");
    const warning = themeColor(root, "warm");
    const width = LABEL + side * keys.length + SLANT;
    const context = fitCanvas(canvas, width, LABEL + side * queries.length);
    context.font = `${Math.min(13, side - 1)}px ${style.fontFamily}`;
    drawTokens(context, { rows: queries, columns: keys, side, left: LABEL, top: LABEL, color: text });
    states.forEach((state, index) => {
      const x = LABEL + side * (index % keys.length) + 1;
      const y = LABEL + side * Math.floor(index / keys.length) + 1;
      drawCell(context, state, x, y, side - 2, { text, accent, warning });
    });
    if (editable && canvas.matches(":focus")) {
      context.strokeStyle = text;
      context.lineWidth = 2;
      context.strokeRect(LABEL + side * cursor.key, LABEL + side * cursor.query, side, side);
    }
  }
  if (cursor && !inside(cursor)) cursor = { query: 0, key: 0 };
  if (hadFocus) canvas.focus();
  if (root.cursor) read(cursor);
  return onWidth(root, (width) => {
    side = Math.max(SMALLEST, Math.min(LARGEST, Math.floor((width - LABEL - SLANT) / keys.length)));
    render();
  });
}

/** A visible cell is filled, a blocked one struck through; a changed one has a ring of its own. */
function drawCell(context, state, x, y, size, { text, accent, warning }) {
  const visible = isVisible(state);
  context.globalAlpha = visible ? 0.85 : 0.08;
  context.fillStyle = visible ? accent : text;
  context.fillRect(x, y, size, size);
  context.globalAlpha = visible ? 1 : 0.35;
  if (!visible) {
    context.strokeStyle = text;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x + size * 0.25, y + size * 0.75);
    context.lineTo(x + size * 0.75, y + size * 0.25);
    context.stroke();
  }
  context.globalAlpha = 1;
  if (!isChanged(state)) return;
  context.strokeStyle = warning;
  context.lineWidth = 3;
  context.strokeRect(x + 1.5, y + 1.5, size - 3, size - 3);
}
