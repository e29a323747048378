import { begin, element, fitCanvas, isSaved, onRoom, roomOf, scrollable } from "../canvas.js";
import { themeColor } from "../colors.js";
import { arrowOf, pointerIn } from "../pointing.js";
import { cross, drawTokens, widestOf } from "../strokes.js";

/**
 * @typedef {object} Header
 * @property {string[]} queries
 * @property {string[]} keys
 * @property {boolean} editable
 * @property {string} label
 * @property {string[]} words the words for each of the four states of a cell
 */

const SIDES = [13, 30]; // the least and the largest side of a cell in pixels
const STAGED = { sides: [14, 60], under: 26 }; // on a slide: the least and the largest side of a cell, and pixels for the words below
const BELOW = 30; // pixels for the words about a cell
const LABEL = 92; // pixels for the columns' tokens, and for the rows' tokens
const BESIDE = 150; // pixels for the rows' labels if they are two tokens each
const SLANT = 28; // pixels by which the last slanted token leans over the edge
const OUTSIDE = { query: -1, key: -1 };
const MOST_ROWS = 64; // a matrix with more rows scrolls
const VIEW = 640; // the height in pixels of a matrix that scrolls
const LARGEST_CANVAS = 2048; // the largest side of a canvas in pixels

// The state of a cell has two bits: 1 if its key is visible, and 2 if the visitor changed that.
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
    // The visitor is dragging: the new drawing waits until the drag ends.
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
  const whole = element("div", "", [canvas]);
  const sheet = scrollable(element("div", "sheet", [whole]), "Mask");
  if (queries.length > MOST_ROWS) sheet.style.maxHeight = `${VIEW}px`;
  root.replaceChildren(sheet, reading);

  let side = SIDES[1];
  let above = LABEL; // pixels for the tokens of the columns
  let beside = LABEL; // pixels for the tokens of the rows
  let view = { width: 0, height: 0 }; // the size in pixels of the canvas, which is always in view
  let cursor = root.cursor ?? { query: 0, key: 0 };
  const at = ({ query, key }) => query * keys.length + key;
  const inside = ({ query, key }) =>
    query >= 0 && query < queries.length && key >= 0 && key < keys.length;
  const read = (cell) =>
    (reading.textContent =
      `“${queries[cell.query]}” looking at “${keys[cell.key]}”: ${words[states[at(cell)]]}`);

  function paint(cell) {
    const { last, cells, opened } = root.stroke;
    for (const passed of between(last, cell)) {
      if (isVisible(states[at(passed)]) === opened) continue;
      states[at(passed)] = turned(states[at(passed)]);
      cells.push([passed.query, passed.key]);
    }
    root.stroke.last = cell;
    render();
    read(cell);
  }
  function start(cell) {
    const opened = !isVisible(states[at(cell)]);
    root.stroke = { opened, cells: [], last: cell }; // the drag that has begun
    paint(cell);
  }
  function finish() {
    const { stroke, pending } = root;
    root.stroke = root.pending = null;
    if (stroke?.cells.length) answer({ opened: stroke.opened, cells: stroke.cells });
    else if (pending) draw(pending);
  }
  function cellUnder(event) {
    const { x, y } = pointerIn(canvas, event);
    if (x < beside || y < above) return OUTSIDE;
    return {
      query: Math.floor((y - above + sheet.scrollTop) / side),
      key: Math.floor((x - beside + sheet.scrollLeft) / side),
    };
  }

  sheet.onscroll = () => {
    root.scrolled = { scrollTop: sheet.scrollTop, scrollLeft: sheet.scrollLeft };
    requestAnimationFrame(render);
  };
  canvas.onpointermove = (event) => {
    const cell = cellUnder(event);
    if (!inside(cell)) return;
    read(cell);
    if (root.stroke) paint(cell);
  };
  if (editable) {
    canvas.onpointerdown = (event) => {
      const cell = cellUnder(event);
      // A finger that moves scrolls the page; its tap changes a cell, in onclick.
      if (event.pointerType === "touch" || event.button || !inside(cell)) return;
      event.preventDefault();
      canvas.setPointerCapture(event.pointerId);
      canvas.focus({ preventScroll: true });
      moveTo(cell);
      start(cell);
    };
    canvas.onpointerup = canvas.onpointercancel = finish;
    canvas.onclick = (event) => {
      const cell = cellUnder(event);
      if (event.pointerType !== "touch" || !inside(cell)) return;
      moveTo(cell);
      start(cell);
      finish();
    };
    canvas.onkeydown = (event) => {
      const arrow = arrowOf(event);
      if (arrow) {
        moveTo({ query: cursor.query + arrow.down, key: cursor.key + arrow.across });
        bringIntoView(cursor);
      } else if (event.key === " " || event.key === "Enter") {
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

  function bringIntoView({ query, key }) {
    const nearest = (now, from, room) => Math.max(from + side - room, Math.min(now, from));
    sheet.scrollTop = nearest(sheet.scrollTop, side * query, view.height - above);
    sheet.scrollLeft = nearest(sheet.scrollLeft, side * key, view.width - beside);
  }

  // The canvas is only as large as the part in view and moves with it, since a canvas cannot be
  // large enough for hundreds of tokens each way.
  function render() {
    const style = getComputedStyle(root);
    const text = style.color;
    const accent = themeColor(root, "accent");
    const warning = themeColor(root, "warm");
    const { scrollTop, scrollLeft } = sheet;
    const context = fitCanvas(canvas, view.width, view.height);
    context.font = `${Math.min(13, side - 1)}px ${style.fontFamily}`;
    const rows = inView(scrollTop, view.height - above, queries.length);
    const columns = inView(scrollLeft, view.width - beside, keys.length);
    const left = beside - scrollLeft;
    const top = above - scrollTop;
    for (let query = rows.first; query < rows.end; query++) {
      for (let key = columns.first; key < columns.end; key++) {
        const [x, y] = [left + side * key + 1, top + side * query + 1];
        drawCell(context, states[at({ query, key })], x, y, side - 2, { text, accent, warning });
      }
    }
    if (editable && canvas.matches(":focus") && !isSaved()) {
      context.strokeStyle = text;
      context.lineWidth = 2;
      context.strokeRect(left + side * cursor.key, top + side * cursor.query, side, side);
    }
    if (scrollLeft) context.clearRect(0, 0, beside, view.height);
    if (scrollTop) context.clearRect(0, 0, view.width, above);
    drawTokens(context, {
      rows: queries.slice(rows.firstMiddle, rows.end),
      columns: keys.slice(columns.firstMiddle, columns.end),
      side,
      left: beside,
      top: above,
      firstRow: top + side * rows.firstMiddle,
      firstColumn: left + side * columns.firstMiddle,
      color: text,
    });
  }
  /** Return the rows or columns in view in `room` pixels, and the first whose middle is in view. */
  function inView(scrolled, room, count) {
    const first = Math.floor(scrolled / side);
    const end = Math.min(count, Math.ceil((scrolled + room) / side));
    return { first, end, firstMiddle: Math.ceil(scrolled / side - 0.5) };
  }
  if (cursor && !inside(cursor)) cursor = { query: 0, key: 0 };
  if (hadFocus) canvas.focus({ preventScroll: true });
  if (root.cursor) read(cursor);
  function fit(width) {
    const room = roomOf(root);
    const ruler = element("canvas").getContext("2d");
    ruler.font = `13px ${getComputedStyle(root).fontFamily}`;
    const named = widestOf(ruler, queries) + 14;
    const most = Math.max(LABEL, Math.min(BESIDE, 0.3 * width));
    beside = Math.max(room.fills ? 0 : LABEL, Math.min(most, named));
    above = room.fills ? Math.min(LABEL, widestOf(ruler, keys) + 14) : LABEL;
    const [smallest, largest] = room.fills ? STAGED.sides : SIDES;
    const under = room.beside ? 0 : room.fills ? STAGED.under : BELOW;
    const across = (width - beside - SLANT) / keys.length;
    const down = (room.height - above - under) / queries.length;
    side = Math.max(smallest, Math.min(largest, Math.floor(Math.min(across, down))));
    const full = { width: beside + side * keys.length + SLANT, height: above + side * queries.length };
    whole.style.width = `${full.width}px`;
    whole.style.height = `${full.height}px`;
    Object.assign(canvas.dataset, { left: beside, top: above, side });
    view = {
      width: Math.min(full.width, sheet.clientWidth, LARGEST_CANVAS),
      height: Math.min(full.height, sheet.clientHeight, LARGEST_CANVAS),
    };
    Object.assign(sheet, root.scrolled);
    render();
  }
  // Draw at once: the next of several quick clicks may come before the resize observer has drawn.
  const width = Math.floor(root.clientWidth);
  if (width) fit(width);
  return onRoom(root, fit, width);
}

/** Return the cells on the line from one cell to another, without the first. */
function between(from, to) {
  const [down, across] = [to.query - from.query, to.key - from.key];
  const steps = Math.max(1, Math.abs(down), Math.abs(across));
  return Array.from({ length: steps }, (_, step) => ({
    query: from.query + Math.round((down * (step + 1)) / steps),
    key: from.key + Math.round((across * (step + 1)) / steps),
  }));
}

/** Draw a cell: filled if visible, crossed out if blocked, with a frame if changed. */
function drawCell(context, state, x, y, size, { text, accent, warning }) {
  if (isVisible(state)) {
    context.globalAlpha = 0.85;
    context.fillStyle = accent;
    context.fillRect(x, y, size, size);
    context.globalAlpha = 1;
  } else cross(context, x, y, size, text);
  if (!isChanged(state)) return;
  context.strokeStyle = warning;
  context.lineWidth = 3;
  context.strokeRect(x + 1.5, y + 1.5, size - 3, size - 3);
}
