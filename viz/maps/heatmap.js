import { begin, buttonOf, element, isSaved, onRoom, roomOf, WORDS } from "../canvas.js";
import { written } from "../numbers.js";
import { pointerIn, TOUCHED } from "../pointing.js";
import { cross } from "../strokes.js";
import { drawMap, fitMap, makeMap } from "./map.js";

/**
 * @typedef {object} Header
 * @property {string[]} rows
 * @property {string[]} columns
 * @property {string} name the name of the numbers, as in "weight 0.1"
 * @property {string} axes the axes in words
 * @property {string} verb the words between a row's token and a column's, as in "looks at"
 * @property {number} limit the number at which the colours end
 * @property {boolean} diverging true if the colours begin at minus the limit, not at 0
 * @property {boolean} clickable
 * @property {string} opens what a click on a cell does, such as "take its weight apart"
 * @property {import("../colors.js").Scale} colors
 * @property {string} absent the word for a cell that is NaN, such as "blocked"
 * @property {number[] | null} framed the row and the column of a cell that is marked until a cell is pointed at
 * @property {string[] | null} behind the names of the maps that this map combines
 */

const CLICKABLE = 8; // the least side in pixels of a cell that a click can hit
const AROUND = TOUCHED ? 6 : 12; // a click on a smaller cell zooms in to the cell and so many cells on each side of it
const UNDER = 48; // pixels for the words under a map on a slide, unless they are next to it
const AROUND_MAP = 76; // pixels for the words above and below a map on a page
const DRAG = 6; // a pointer that moves so many pixels while it is pressed is a drag

/**
 * Draw a map: pointing at a cell shows its number, a drag zooms in, and a click sends the cell.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root, answer } = begin(mount);
  root.picture ??= makePicture(root);
  root.picture.take(header, new Float32Array(array.buffer), answer);
  return onRoom(root, root.picture.render, Math.floor(root.clientWidth));
}

function makePicture(root) {
  let header;
  let numbers; // the number of each cell, NaN if absent; if several maps are combined, then the largest of their numbers for each cell, and then the index of its map
  let pick;
  let cell = null; // the row and the column of the cell that was pointed at
  let part; // the part of the map that is shown: its first row and column, and the first ones after it
  let corner = null; // where a drag began, in pixels of the canvas

  const view = makeMap(false, pointAt, () => cell && [cell[0] - part.top, cell[1] - part.left]);
  const reading = element("p", "reading above", "", { role: "status" });
  const whole = buttonOf("control whole-map", "Show all", () => zoom(all()));
  const frameOfDrag = element("div", "drag");
  const { canvas } = view;
  const arrows = canvas.onkeydown;
  canvas.parentElement.append(frameOfDrag);
  view.figure.append(whole);
  root.replaceChildren(reading, view.figure);
  const all = () => ({ top: 0, left: 0, bottom: header.rows.length, right: header.columns.length });
  const isWhole = () => part.bottom - part.top === header.rows.length && part.right - part.left === header.columns.length;

  function take(next, values, answer) {
    const moved = JSON.stringify([next.rows, next.columns]) !== JSON.stringify([header?.rows, header?.columns]);
    [header, numbers, pick] = [next, values, answer];
    view.diverging = header.diverging;
    if (moved) [cell, part] = [null, all()];
    render();
  }

  function render() {
    if (!root.clientWidth) return;
    const { top, left, bottom, right } = part;
    const width = right - left;
    const { fills, beside, height } = roomOf(root);
    const around = beside ? 0 : fills ? UNDER : AROUND_MAP;
    const across = root.clientWidth - (beside ? WORDS : 0);
    const [rows, columns] = [header.rows.slice(top, bottom), header.columns.slice(left, right)];
    const framed = (isSaved() ? null : cell) ?? header.framed;
    drawMap(view, {
      title: isWhole() ? header.axes : `${header.axes}. Shown: ${span("rows", top, bottom)}, ${span("columns", left, right)}`,
      name: header.name,
      rows,
      columns,
      number: (at) => numbers[(top + Math.floor(at / width)) * header.columns.length + left + (at % width)],
      limit: header.limit,
      colors: header.colors,
      cell: framed && isShown(framed) ? [framed[0] - top, framed[1] - left] : null,
      isKept: true,
      without: header.absent === "blocked" ? cross : undefined,
      ...fitMap(root, rows, columns, across, { largest: 44, smallest: 1 / devicePixelRatio, fills, height: height - around }),
    });
    canvas.classList.toggle("clickable", header.clickable);
    whole.hidden = isWhole();
    reading.replaceChildren(cell ? words() : element("span", "hint", hint()));
    // The text about a cell is shorter than the hint that it replaces: keep the hint's height, so that
    // the map does not move under the pointer.
    if (!cell) {
      reading.style.minHeight = "";
      // The height in the style is rounded to four decimals, and may be a little too low.
      reading.style.minHeight = `calc(${getComputedStyle(reading).height} + 0.01px)`;
    }
  }
  const span = (name, from, to) => `${name} ${from + 1} to ${to} of ${header[name].length}`;
  /** @param {number[]} cell */
  const isShown = ([row, column]) => row >= part.top && row < part.bottom && column >= part.left && column < part.right;

  function hint() {
    const isSmall = view.side < CLICKABLE;
    if (TOUCHED && isSmall) return "Tap a cell to zoom in on it.";
    if (TOUCHED) return `Tap a cell to read it.${header.clickable ? ` Tap it again to ${header.opens}.` : ""}`;
    const zooms = Math.max(header.rows.length, header.columns.length) > AROUND;
    const opens = isSmall ? "zoom in on it" : header.clickable ? header.opens : "";
    const clicks = opens && `; click it to ${opens}`;
    return `Point at a cell to read it${clicks}.${zooms ? " Drag to zoom in." : ""}`;
  }
  function words() {
    const [row, column] = cell;
    const number = numbers[row * header.columns.length + column];
    const said = Number.isNaN(number) ? header.absent : `${header.name} ${written(number, header.diverging)}`;
    return `“${header.rows[row]}” ${header.verb} “${header.columns[column]}”: ${said}${strongest(row, column)}`;
  }
  /** Return words on which of the combined maps has the largest number in a cell. */
  function strongest(row, column) {
    if (!header.behind) return "";
    const cells = header.rows.length * header.columns.length;
    const at = row * header.columns.length + column;
    const name = header.behind[numbers[2 * cells + at]];
    const opens = header.clickable ? `; click opens ${name}` : "";
    return `; strongest: ${name}, ${written(numbers[cells + at])}${opens}`;
  }

  function pointAt(row, column) {
    const next = [row + part.top, column + part.left];
    if (!isShown(next) || (cell?.[0] === next[0] && cell?.[1] === next[1])) return;
    cell = next;
    render();
  }

  function zoom(to) {
    part = to;
    render();
  }
  /**
   * Return the part of the map between two cells, each a row and a column of the shown part.
   * @param {number[]} one
   * @param {number[]} other
   */
  function between(one, other) {
    const [[row, column], [otherRow, otherColumn]] = [one, other];
    const ends = (at, end, from, to) =>
      [Math.min(at, end), Math.max(at, end) + 1].map((at) => Math.max(from, Math.min(to, from + at)));
    const [top, bottom] = ends(row, otherRow, part.top, part.bottom);
    const [left, right] = ends(column, otherColumn, part.left, part.right);
    return { top, left, bottom, right };
  }
  /** Show only half the rows and columns of the shown part, around the cell that was pointed at. */
  function zoomIn() {
    const [row, column] = [cell[0] - part.top, cell[1] - part.left];
    const [down, across] = [part.bottom - part.top, part.right - part.left].map((size) => Math.floor(size / 4));
    zoom(between([row - down, column - across], [row + down, column + across]));
  }
  const placeOf = ({ x, y }) => [Math.floor((y - view.top) / view.side), Math.floor((x - view.left) / view.side)];
  /** Handle a click on a cell, or a second tap on it: the first tap only points. */
  function choose(place) {
    const [row, column] = place;
    if (!isShown([row + part.top, column + part.left])) return;
    if (view.side < CLICKABLE) zoom(between([row - AROUND, column - AROUND], [row + AROUND, column + AROUND]));
    else if (header.clickable) pick([row + part.top, column + part.left]);
    else pointAt(row, column);
  }

  canvas.onpointerdown = (event) => {
    // A finger that moves scrolls the page; its tap is handled by onclick.
    if (event.pointerType === "touch" || event.button) return;
    event.preventDefault();
    canvas.setPointerCapture(event.pointerId);
    canvas.focus(/** @type {any} */ ({ preventScroll: true, focusVisible: false }));
    corner = pointerIn(canvas, event);
  };
  canvas.addEventListener("pointermove", (event) => {
    if (!corner) return;
    const at = pointerIn(canvas, event);
    const [x, y] = [Math.min(at.x, corner.x), Math.min(at.y, corner.y)];
    const [width, height] = [Math.abs(at.x - corner.x), Math.abs(at.y - corner.y)];
    frameOfDrag.style.cssText = `left: ${x}px; top: ${y}px; width: ${width}px; height: ${height}px`;
    frameOfDrag.hidden = Math.max(width, height) < DRAG;
  });
  canvas.onpointerup = (event) => {
    if (!corner) return;
    const at = pointerIn(canvas, event);
    const dragged = Math.max(Math.abs(at.x - corner.x), Math.abs(at.y - corner.y)) >= DRAG;
    const [from, to] = [placeOf(corner), placeOf(at)];
    endDrag();
    if (!dragged) return choose(to);
    const wanted = between(from, to);
    if (wanted.bottom > wanted.top && wanted.right > wanted.left) zoom(wanted);
  };
  canvas.onpointercancel = endDrag;
  canvas.onclick = (event) => {
    if (event.pointerType !== "touch") return;
    const place = placeOf(pointerIn(canvas, event));
    const isRead = cell?.[0] === place[0] + part.top && cell[1] === place[1] + part.left;
    if (isRead || view.side < CLICKABLE) choose(place);
    else pointAt(...place);
  };
  canvas.onkeydown = (event) => {
    if (event.key === "Enter" && cell && header.clickable) pick(cell);
    else if (event.key === "Escape" && !isWhole()) zoom(all());
    else if (event.key === "+" && cell) zoomIn();
    else {
      arrows.call(canvas, event);
      return;
    }
    event.preventDefault();
  };
  function endDrag() {
    corner = null;
    frameOfDrag.hidden = true;
  }
  endDrag();

  return { take, render };
}
