import { begin, element, fitCanvas, isSaved, onRoom, roomOf } from "../canvas.js";
import { short, ticks } from "../numbers.js";
import { arrowOf, POINT_AT, pointerIn, TOUCHED } from "../pointing.js";
import { dot, line, ring } from "../strokes.js";

/**
 * @typedef {object} Header
 * @property {string[]} told the words that describe each point when it is pointed at
 * @property {string} summary a description of the picture
 * @property {number[]} groups the index of each point's kind
 * @property {string[]} kinds
 * @property {string[]} colors a colour for each kind
 * @property {{ place: number, words: string }[]} named points that have words next to them: the index of each one, and its words
 * @property {[string, string] | null} axes the names of the horizontal and the vertical axis; null in a plane, with equal scales on both
 * @property {string} equal what it means if a point's two numbers are equal, for the legend of the line of such points; no line if empty
 * @property {number | null} selected the index of the point with a ring
 * @property {boolean} clickable
 */

const SHAPE = 0.66; // the plot's height as a share of its width
const [LOWEST, HIGHEST] = [240, 400]; // the least and the largest height in pixels
const GAPS = 12; // pixels between the plot and the words above and below it
const MARGIN = { left: 52, right: 14, top: 10, bottom: 38 }; // pixels around a plot with axes
const BARE = { left: 14, right: 14, top: 12, bottom: 12 }; // pixels around a plot without axes
const NEAR = 24; // a pointer points at a point that is at most this many pixels away
const LINE = 15; // the height of a line of words in pixels
const ASIDE = [10, -10, 30, -30, 60, -60]; // pixels by which the words of a point may be to its right, or to its left if below 0
const ALOFT = [0, -1, 1, -2, 2, -3, 3, -4, 4, -6, 6]; // lines by which the words of a point may be below it, or above it if below 0

/**
 * Draw the points and, if asked for, the line of points whose two numbers are equal. Pointing at a
 * point describes it; a click sends its index to the app.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root, answer } = begin(mount);
  root.points ??= makePicture(root);
  root.points.take(header, new Float32Array(array.buffer), answer);
  return onRoom(root, root.points.render);
}

function makePicture(root) {
  let header;
  let numbers; // the horizontal numbers of all points, followed by their vertical numbers
  let pick;
  let at = null; // the index of the point that is pointed at
  let spots = []; // the place of each point in pixels

  const reading = element("p", "reading above", "", { role: "status" });
  const legend = element("p", "legend");
  const canvas = element("canvas", "", "", { role: "img", tabindex: "0" });
  root.replaceChildren(reading, canvas, legend);

  const across = (point) => numbers[point];
  const up = (point) => numbers[header.told.length + point];

  function take(next, values, answer) {
    if (JSON.stringify(next.told) !== JSON.stringify(header?.told)) at = null;
    [header, numbers, pick] = [next, values, answer];
    canvas.classList.toggle("clickable", header.clickable);
    const kinds = header.kinds.length > 1 ? header.kinds : [];
    legend.replaceChildren(
      ...kinds.map((kind, place) => entry("dot", kind, `background: ${header.colors[place]}`)),
      ...(header.equal ? [entry("line", header.equal)] : []),
    );
    render();
  }

  function render() {
    const width = root.clientWidth;
    if (!width) return;
    const { fills, height } = roomOf(root);
    const words = reading.offsetHeight + legend.offsetHeight + GAPS;
    const high = fills ? height - words : Math.max(LOWEST, Math.min(HIGHEST, width * SHAPE));
    drawPlot(fitCanvas(canvas, width, high), width, high);
    canvas.ariaLabel = header.summary;
    reading.replaceChildren(at === null ? element("span", "hint", hint()) : header.told[at]);
  }

  function drawPlot(context, width, height) {
    const { color, fontFamily } = getComputedStyle(root);
    const { told, groups, colors, axes, equal, selected } = header;
    const margin = axes ? MARGIN : BARE;
    const [left, right] = [margin.left, width - margin.right];
    const [top, bottom] = [margin.top, height - margin.bottom];
    const ends = [numbers.subarray(0, told.length), numbers.subarray(told.length)].map((part) =>
      endsOf(equal ? [0, ...part] : part),
    );
    if (!axes) alike(ends, right - left, bottom - top);
    const [[west, east], [south, north]] = ends;
    const x = (value) => left + ((value - west) / (east - west)) * (right - left);
    const y = (value) => bottom - ((value - south) / (north - south)) * (bottom - top);

    context.font = `11px ${fontFamily}`;
    context.fillStyle = context.strokeStyle = color;
    context.textBaseline = "middle";
    if (axes) drawAxes(context, x, y, ends, { left, right, top, bottom }, height);

    if (equal) {
      // The line of equal numbers goes from edge to edge of the plot.
      const [from, to] = [Math.max(west, south), Math.min(east, north)];
      context.globalAlpha = 0.6;
      context.lineWidth = 1.5;
      line(context, [x(from), y(from)], [x(to), y(to)]);
    }

    spots = told.map((_, point) => [x(across(point)), y(up(point))]);
    context.globalAlpha = 0.8;
    spots.forEach(([px, py], point) => {
      context.fillStyle = colors[groups[point]];
      dot(context, px, py, 4);
    });
    context.globalAlpha = 1;
    context.fillStyle = context.strokeStyle = color;
    nameThem(context, left, right, top, bottom);
    context.lineWidth = 2;
    if (selected !== null) ring(context, ...spots[selected], 7);
    context.lineWidth = 1.5;
    if (at !== null && !isSaved()) ring(context, ...spots[at], 6);
  }

  function drawAxes(context, x, y, [across, up], { left, right, top, bottom }, height) {
    const { axes } = header;
    context.textAlign = "right";
    for (const value of ticks(...up, 5)) {
      grid(context, left, Math.round(y(value)), right - left, 1, isZero(value, up));
      context.fillText(short(tidy(value)), left - 6, y(value));
    }
    context.textAlign = "center";
    for (const value of ticks(...across, Math.max(2, Math.floor((right - left) / 70)))) {
      grid(context, Math.round(x(value)), top, 1, bottom - top, isZero(value, across));
      context.fillText(short(tidy(value)), x(value), bottom + 12);
    }
    context.fillText(axes[0], (left + right) / 2, height - 8, right - left);
    context.save();
    context.translate(9, (top + bottom) / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(axes[1], 0, 0, bottom - top);
    context.restore();
  }

  /** Write the words of the named points where they hide the fewest points and no other words. */
  function nameThem(context, left, right, top, bottom) {
    context.font = `12px ${getComputedStyle(root).fontFamily}`;
    context.textAlign = "left";
    context.lineWidth = 1;
    const taken = [];
    const meet = (one, other) =>
      Math.abs(one.level - other.level) < LINE && one.from < other.to && other.from < one.to;
    const hidden = (box) =>
      spots.filter(([x, y]) => x > box.from - 5 && x < box.to + 5 && Math.abs(y - box.level) < LINE / 2 + 3).length;
    for (const { place, words } of header.named) {
      const [px, py] = spots[place];
      const size = Math.min(context.measureText(words).width, right - left - 20);
      const boxes = ASIDE.flatMap((aside) =>
        ALOFT.map((aloft) => {
          const from = aside > 0 ? px + aside : px + aside - size;
          return { from, to: from + size, level: py + aloft * LINE, far: Math.abs(aside) / 10 + Math.abs(aloft) };
        }),
      ).filter((box) => box.from >= left && box.to <= right && box.level > top + 6 && box.level < bottom - 6);
      const cost = (box) => box.far + 3 * hidden(box) + 100 * taken.filter((other) => meet(box, other)).length;
      const best = boxes.sort((one, other) => cost(one) - cost(other))[0];
      if (!best) continue;
      taken.push(best);
      context.globalAlpha = 0.4;
      line(context, [px, py], [best.from > px ? best.from - 2 : best.to + 2, best.level]);
      context.globalAlpha = 1;
      context.fillText(words, best.from, best.level, size);
    }
  }

  function hint() {
    const opens = header.clickable ? (TOUCHED ? " Tap it again to open it." : " Click it to open it.") : "";
    return `${POINT_AT} a point to read it.${opens}`;
  }

  function pointAt(next) {
    if (next === at) return;
    at = next;
    render();
  }
  /** Return the index of the point nearest to a pointer, or null if none is near. */
  function near(event) {
    const { x, y } = pointerIn(canvas, event);
    const far = spots.map(([px, py]) => Math.hypot(px - x, py - y));
    const nearest = far.indexOf(Math.min(...far));
    return far[nearest] <= NEAR ? nearest : null;
  }
  /** Return the point that is `step` points after the one pointed at, in the order along an axis. */
  function next(step, along) {
    const order = header.told.map((_, point) => point).sort((one, other) => along(one) - along(other) || one - other);
    const place = order.indexOf(at);
    return order[at === null ? 0 : Math.max(0, Math.min(order.length - 1, place + step))];
  }
  // A finger points at a point with a first tap, and opens it with a second one.
  canvas.onpointermove = (event) => event.pointerType === "touch" || pointAt(near(event));
  canvas.onpointerleave = (event) => event.pointerType === "touch" || pointAt(null);
  canvas.onclick = (event) => {
    const nearest = near(event);
    const read = event.pointerType !== "touch" || nearest === at;
    pointAt(nearest);
    if (nearest !== null && read && header.clickable) pick(nearest);
  };
  canvas.onkeydown = (event) => {
    const arrow = arrowOf(event);
    if (event.key === "Enter" && at !== null && header.clickable) pick(at);
    else if (event.key === "Escape" && at !== null) pointAt(null);
    else if (arrow) pointAt(arrow.across ? next(arrow.across, across) : next(-arrow.down, up));
    else return;
    event.preventDefault();
  };
  return { take, render };
}

/** Make an entry of the legend: a mark and its meaning. */
function entry(mark, words, style = "") {
  return element("span", "entry", [element("span", mark, "", { style }), words]);
}

/** Return the two ends of an axis for some numbers, with a little room beyond them. */
function endsOf(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = (high - low) * 0.06 || 1;
  return [low - room, high + room];
}

/** Widen one axis until a pixel means the same distance on both axes. */
function alike(ends, width, height) {
  const each = Math.max((ends[0][1] - ends[0][0]) / width, (ends[1][1] - ends[1][0]) / height);
  [width, height].forEach((size, axis) => {
    const middle = (ends[axis][0] + ends[axis][1]) / 2;
    ends[axis] = [middle - (each * size) / 2, middle + (each * size) / 2];
  });
}

const isZero = (value, [low, high]) => Math.abs(value) < (high - low) * 1e-6;
const tidy = (value) => Number(value.toPrecision(6));

function grid(context, x, y, width, height, strong) {
  context.globalAlpha = strong ? 0.45 : 0.13;
  context.fillRect(x, y, width, height);
  context.globalAlpha = 0.85;
}
