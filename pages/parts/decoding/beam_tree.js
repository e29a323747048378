import { begin, buttonOf, element, fitCanvas, isStaged, letterScale, onWidth, roomOf, scrollable } from "../../../viz/canvas.js";
import { themeColor } from "../../../viz/colors.js";
import { written } from "../../../viz/numbers.js";
import { onPointing } from "../../../viz/pointing.js";

/**
 * @typedef {object} Leaf
 * @property {number | null} parent
 * @property {string} token
 * @property {string} text
 * @property {number} log_probability
 * @property {number} score
 * @property {boolean} kept
 * @property {boolean} ended
 * @property {boolean} best
 */

/**
 * @typedef {object} Header
 * @property {Leaf[][]} steps the texts of each step, best first
 * @property {[number, number] | null} selected a step and an index in it, from 0
 */

// In pixels: the width and height of a text's button, the gap to the next column, and the distance
// between the tops of two buttons in a column.
const ROW = { wide: 106, high: 20, gap: 24, down: 25 };
// The sizes of buttons that have the number below the token, not next to it.
const STACKED = { wide: 60, high: 32, gap: 11, down: 36 };
const TALLEST = 1.5; // a button may get this many times as high, if there is room
const NOTE = 36; // pixels for the note under the tree
const STAGE = 2.4; // on a slide, the room for a picture is this many times as wide as it is high
const PACE = 1; // steps per second of a film
const TOP = 22; // pixels for the line with the steps' numbers
const EDGE = 2; // pixels around the tree
const KEY = "Thick: returned. Dashed: dropped. Numbers: the log-probability of the text so far, in nats.";

/**
 * Draw the texts of each step as buttons in a column, and lines to the texts they continue.
 * @param {import("../../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  const { selected } = header;
  const steps = isStaged(root) ? untilReturned(header.steps) : header.steps;
  const undrawn = header.steps.length - steps.length;
  const scrolled = root.querySelector(".sheet")?.scrollLeft ?? 0;
  const tallest = Math.max(...steps.map((leaves) => leaves.length));
  const reading = element("p", "reading", "", { "aria-live": "polite" });
  const canvas = element("canvas", "", "", { "aria-hidden": "true" });
  const plane = element("div", "plane", [canvas]);
  const sheet = scrollable(element("div", "sheet", [plane]), "Texts of the beam");

  steps.forEach((leaves, step) => {
    const left = `left: calc(${step} * var(--across))`;
    plane.append(element("span", "step", `step ${step + 1}`, { style: left, "data-step": step }));
    leaves.forEach((leaf, place) => {
      const chosen = selected?.[0] === step && selected[1] === place;
      const state = ["leaf", leaf.kept && "kept", leaf.best && "best", leaf.ended && "ended"];
      const number = element("span", "number", written(leaf.log_probability, false, 2));
      const content = [element("span", "name cut", leaf.token), number];
      const button = buttonOf(state.filter(Boolean).join(" "), content, () => answer([step, place]), {
        "aria-label": describe(leaf, step),
        "aria-pressed": String(chosen),
        "data-step": step,
        style: `${left}; top: calc(var(--top) + ${place} * var(--down))`,
      });
      onPointing(button, () => (reading.textContent = describe(leaf, step)));
      plane.append(button);
    });
  });
  let last = steps.length - 1; // the last step that is drawn; in a film it grows
  root.moves = { count: () => steps.length, place: () => last, go, speed: () => PACE };
  const shown = selected && steps[selected[0]]?.[selected[1]];
  if (shown) reading.textContent = describe(shown, selected[0]);
  const note = element("p", "note", undrawn ? `${KEY} Not drawn: ${undrawn} later step${undrawn > 1 ? "s" : ""}, which found no better text.` : KEY);
  root.replaceChildren(sheet, note, reading);
  function go(to) {
    last = to;
    const ended = last === steps.length - 1;
    plane.classList.toggle("growing", !ended); // the best text is marked only at the last step
    plane.querySelectorAll("[data-step]").forEach((part) => {
      part.style.visibility = Number(part.dataset.step) > last ? "hidden" : "";
    });
    render();
  }
  render();
  sheet.scrollLeft = scrolled;
  return onWidth(root, render, Math.floor(root.clientWidth));

  function render() {
    const style = getComputedStyle(root);
    const accent = themeColor(root, "accent");
    const { fills, height: room } = roomOf(root);
    // A slide scales the tree to fit, so a long tree has larger letters if its columns are narrow.
    const letters = letterScale();
    const top = TOP * letters;
    const widest = isStaged(root) ? STAGE * (TOP + STACKED.down * tallest) : root.clientWidth - 2 * EDGE;
    const isStacked = (ROW.wide + ROW.gap) * letters * steps.length - ROW.gap > widest;
    const { gap, ...row } = scaled(isStacked ? STACKED : ROW, letters);
    const share = isStaged(root) ? 0 : Math.floor((widest + gap) / steps.length) - gap;
    const wide = isStacked ? Math.max(row.wide, share) : row.wide;
    const across = wide + gap;
    const width = across * steps.length - gap;
    plane.classList.toggle("stacked", isStacked);
    const filling = isStacked && fills ? Math.floor((room - top - NOTE) / tallest) : 0;
    const down = Math.max(row.down, Math.min(TALLEST * row.down, filling));
    const high = down - (row.down - row.high);
    const height = top + down * tallest;
    const sizes = { wide, high, across, down, top };
    const named = Object.entries(sizes).map(([name, pixels]) => `--${name}: ${pixels}px`);
    plane.style.cssText = [`width: ${width}px`, `height: ${height}px`, ...named].join(";");
    const context = fitCanvas(canvas, width, height);
    steps.forEach((leaves, step) => {
      leaves.forEach((leaf, place) => {
        if (leaf.parent === null || step > last) return;
        const isBest = leaf.best && last === steps.length - 1;
        const [from, to] = [across * (step - 1) + wide, across * step];
        const [above, below] = [leaf.parent, place].map((at) => top + down * at + high / 2);
        context.strokeStyle = isBest ? accent : style.color;
        context.globalAlpha = isBest ? 1 : leaf.kept ? 0.55 : 0.15;
        context.lineWidth = isBest ? 3 : 1.25;
        context.beginPath();
        context.moveTo(from, above);
        context.bezierCurveTo((from + to) / 2, above, (from + to) / 2, below, to, below);
        context.stroke();
      });
    });
  }
}

/** Return sizes in pixels, multiplied by the factor `letters` for larger letters. */
const scaled = (sizes, letters) =>
  Object.fromEntries(Object.entries(sizes).map(([name, pixels]) => [name, Math.round(pixels * letters)]));

/** Return the steps up to the one in which the returned text ended; all if no text is `best`. */
function untilReturned(steps) {
  const end = steps.findLastIndex((leaves) => leaves.some((leaf) => leaf.best));
  return end === -1 ? steps : steps.slice(0, end + 1);
}

/** Return a text of the search with its log-probability, score, and whether it was kept. */
function describe(leaf, step) {
  const fate = leaf.best
    ? leaf.ended ? "returned" : "kept, on the way to the returned text"
    : leaf.kept ? (leaf.ended ? "kept and finished" : "kept") : "dropped";
  const text = `${leaf.text}${leaf.ended ? " <end>" : ""}`;
  const score = leaf.ended ? `, score ${written(leaf.score)}` : "";
  return `Step ${step + 1}: “${text}”: log-probability ${written(leaf.log_probability)}${score}; ${fate}`;
}
