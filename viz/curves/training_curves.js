import { begin, element, fitCanvas, isSaved, onWidth, roomOf } from "../canvas.js";
import { short, ticks } from "../numbers.js";
import { arrowOf, pointerIn } from "../pointing.js";
import { dot } from "../strokes.js";

/**
 * @typedef {object} Header
 * @property {string[]} runs
 * @property {{ title: string, limits: [number, number] | null }[]} panels
 * @property {{ run: number, panel: number, count: number }[]} lines the run, the panel and the number of steps of each line; the array holds a line's steps and then its values
 * @property {string[]} colors a colour for each run
 * @property {string} axis the title of the horizontal axes
 * @property {[string, string]} at the words written before and after the number of a step
 */

const HEIGHT = 184; // the height of a panel in pixels
const HIGHEST = 340; // the largest height in pixels of a panel on a slide, where panels fill the height
const WORDS = 52; // the height in pixels of a panel's title and of the text about a step
const MARGIN = { left: 46, right: 10, top: 8, bottom: 34 }; // pixels around a panel's plot
const FEW = 40; // a line of at most so many points has a dot at each of them

/**
 * Draw each panel's lines. New data is drawn into the same elements, and the step that is pointed at
 * stays.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root } = begin(mount);
  const numbers = new Float32Array(array.buffer);
  let at = 0;
  const lines = header.lines.map((line) => {
    const steps = numbers.subarray(at, (at += line.count));
    const values = numbers.subarray(at, (at += line.count));
    return { ...line, steps, values };
  });
  const titles = JSON.stringify(header.panels.map((panel) => panel.title));
  if (root.titles !== titles) {
    root.titles = titles;
    root.figures = header.panels.map(() => makePanel(root));
    root.legend = element("div", "legend");
    const panels = root.figures.map(({ figure }) => figure);
    root.replaceChildren(root.legend, element("div", "panels", panels));
  }
  const { runs, colors, axis, at: around } = header;
  root.legend.hidden = runs.length < 2;
  root.legend.replaceChildren(
    ...runs.map((name, run) =>
      element("span", run === runs.length - 1 ? "run last" : "run", name, {
        style: `--line: ${colors[run]}`,
      }),
    ),
  );
  const last = Math.max(1, ...lines.map((line) => line.steps.at(-1) ?? 0));
  const render = () => {
    const height = heightOf(root);
    root.figures.forEach((view, panel) => {
      const own = lines.filter((line) => line.panel === panel && line.steps.length);
      drawPanel(root, view, { ...header.panels[panel], height, lines: own, runs, colors, axis, around, last });
    });
  };
  root.render = render;
  return onWidth(root, render);
}

/** Return the height that each panel can have, in pixels. */
function heightOf(root) {
  const { fills, height } = roomOf(root);
  if (!fills) return HEIGHT;
  const rows = new Set(root.figures.map(({ figure }) => figure.offsetTop)).size;
  const each = (height - root.legend.offsetHeight) / rows - WORDS;
  return Math.floor(Math.max(HEIGHT, Math.min(HIGHEST, each)));
}

function makePanel(root) {
  const caption = element("figcaption", "");
  const canvas = element("canvas", "", "", { role: "img", tabindex: "0" });
  const reading = element("p", "reading");
  const figure = element("figure", "", [caption, canvas, reading]);
  const view = { figure, caption, canvas, reading, scale: null };
  const pointAt = (step) => {
    root.step = step === null ? null : Math.max(0, Math.min(view.scale.last, step));
    root.render();
  };
  canvas.onpointermove = canvas.onpointerdown = (event) => {
    const { x } = pointerIn(canvas, event);
    pointAt(((x - MARGIN.left) / view.scale.across) * view.scale.last);
  };
  canvas.onpointerleave = canvas.onblur = () => pointAt(null);
  canvas.onkeydown = (event) => {
    const by = arrowOf(event)?.across;
    if (!by) return;
    event.preventDefault();
    pointAt((root.step ?? view.scale.last / 2) + (by * view.scale.last) / 50);
  };
  return view;
}

function drawPanel(root, view, { title, limits, height, lines, runs, colors, axis, around, last }) {
  const width = view.figure.clientWidth;
  const style = getComputedStyle(root);
  const context = fitCanvas(view.canvas, width, height);
  const across = width - MARGIN.left - MARGIN.right;
  const down = height - MARGIN.top - MARGIN.bottom;
  view.scale = { across, last };
  view.caption.textContent = title;
  const [low, high] = limits ?? ends(lines);
  const x = (step) => MARGIN.left + (step / last) * across;
  const y = (value) => MARGIN.top + (1 - (value - low) / (high - low)) * down;

  context.font = `11px ${style.fontFamily}`;
  context.fillStyle = context.strokeStyle = style.color;
  context.lineWidth = 1;
  context.textBaseline = "middle";
  for (const value of ticks(low, high, 4)) {
    context.globalAlpha = 0.15;
    context.fillRect(MARGIN.left, Math.round(y(value)), across, 1);
    context.globalAlpha = 0.85;
    context.textAlign = "right";
    context.fillText(short(value), MARGIN.left - 6, y(value));
  }
  for (const step of ticks(0, last, Math.max(2, Math.floor(across / 80)))) {
    context.textAlign = step > last * 0.95 ? "right" : "center";
    context.fillText(short(step), x(step), height - MARGIN.bottom + 12);
  }
  context.textAlign = "center";
  context.fillText(axis, MARGIN.left + across / 2, height - 7);
  context.globalAlpha = 1;
  const at = (step) => `${around[0]}${short(step)}${around[1]}`;
  const read = [];
  for (const { run, steps, values } of lines) {
    const newest = run === runs.length - 1;
    context.strokeStyle = context.fillStyle = colors[run];
    context.lineWidth = newest ? 2 : 1.25;
    context.globalAlpha = newest ? 1 : 0.75;
    context.beginPath();
    steps.forEach((step, at) => context.lineTo(x(step), y(values[at])));
    context.stroke();
    if (steps.length <= FEW) steps.forEach((step, at) => dot(context, x(step), y(values[at]), 2.5));
    if (typeof root.step === "number" && !isSaved()) {
      const near = nearest(steps, root.step);
      dot(context, x(steps[near]), y(values[near]), 4);
      const name = runs.length > 1 ? `${runs[run]}: ` : "";
      read.push(`${name}${short(values[near])} ${at(steps[near])}`);
    }
  }
  context.globalAlpha = 1;
  view.reading.textContent = read.join(" · ");
  const newest = lines.at(-1);
  view.canvas.ariaLabel = newest
    ? `${title}: ${runs[newest.run]} from ${short(newest.values[0])} ${at(newest.steps[0])} ` +
      `to ${short(newest.values.at(-1))} ${at(newest.steps.at(-1))}`
    : `${title}: nothing measured yet`;
}

/** Return the ends of the vertical axis for some lines, with a little room beyond their numbers. */
function ends(lines) {
  let [low, high] = [Infinity, -Infinity];
  for (const { values } of lines) {
    for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  }
  if (low > high) return [0, 1];
  const room = (high - low) * 0.05 || Math.abs(high) * 0.1 || 1;
  return [low >= 0 ? Math.max(0, low - room) : low - room, high + room];
}

function nearest(steps, wanted) {
  let [low, high] = [0, steps.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((steps[middle] + steps[middle + 1]) / 2 < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
