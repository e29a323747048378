import { begin, element, fitCanvas, onWidth, scrollable, themeColor } from "../canvas.js";

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
 * @property {[number, number] | null} selected a step and a place in it, from 0
 */

const WIDTH = 96; // pixels of a text's button
const HEIGHT = 20;
const ACROSS = 132; // pixels from one step to the next
const DOWN = 25; // pixels from one text to the next
const TOP = 22; // pixels for the numbers of the steps

/**
 * Draw the texts of each step as buttons in a column, and lines to what they go on from.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  const { steps, selected } = header;
  const scrolled = root.querySelector(".sheet")?.scrollLeft ?? 0;
  const tallest = Math.max(...steps.map((leaves) => leaves.length));
  const width = ACROSS * (steps.length - 1) + WIDTH;
  const height = TOP + DOWN * tallest;

  const reading = element("p", "reading", "", { "aria-live": "polite" });
  const sheet = element("div", "sheet");
  const plane = element("div", "plane", "", {
    style: `width: ${width}px; height: ${height}px; --wide: ${WIDTH}px; --high: ${HEIGHT}px`,
  });
  const canvas = element("canvas", "", "", { "aria-hidden": "true" });
  plane.append(canvas);
  sheet.append(plane);
  scrollable(sheet, "Texts of the beam");

  steps.forEach((leaves, step) => {
    const x = ACROSS * step;
    plane.append(element("span", "step", `step ${step + 1}`, { style: `left: ${x}px` }));
    leaves.forEach((leaf, place) => {
      const chosen = selected?.[0] === step && selected[1] === place;
      const state = [leaf.kept && "kept", leaf.best && "best", leaf.ended && "ended"];
      const button = element("button", ["leaf", ...state].filter(Boolean).join(" "), leaf.token, {
        type: "button",
        "aria-label": describe(leaf, step),
        "aria-pressed": String(chosen),
        style: `left: ${x}px; top: ${TOP + DOWN * place}px`,
      });
      button.onclick = () => answer([step, place]);
      button.onpointerenter = button.onfocus = () => (reading.textContent = describe(leaf, step));
      plane.append(button);
    });
  });
  const shown = selected && steps[selected[0]]?.[selected[1]];
  if (shown) reading.textContent = describe(shown, selected[0]);
  root.replaceChildren(sheet, reading);
  sheet.scrollLeft = scrolled;

  return onWidth(root, () => {
    const style = getComputedStyle(root);
    const accent = themeColor(root, "accent");
    const context = fitCanvas(canvas, width, height);
    steps.forEach((leaves, step) => {
      leaves.forEach((leaf, place) => {
        if (leaf.parent === null) return;
        const [from, to] = [ACROSS * (step - 1) + WIDTH, ACROSS * step];
        const [above, below] = [leaf.parent, place].map((at) => TOP + DOWN * at + HEIGHT / 2);
        context.strokeStyle = leaf.best ? accent : style.color;
        context.globalAlpha = leaf.best ? 1 : leaf.kept ? 0.55 : 0.15;
        context.lineWidth = leaf.best ? 3 : 1.25;
        context.beginPath();
        context.moveTo(from, above);
        context.bezierCurveTo(from + 18, above, to - 18, below, to, below);
        context.stroke();
      });
    });
  });
}

/** A text, its score, and what became of it. */
function describe(leaf, step) {
  const fate = leaf.best
    ? leaf.ended ? "returned" : "kept, on the way to what was returned"
    : leaf.kept ? (leaf.ended ? "kept and finished" : "kept") : "dropped";
  const text = `${leaf.text}${leaf.ended ? " <end>" : ""}`;
  const score = leaf.ended ? `, score ${leaf.score.toFixed(3)}` : "";
  return `Step ${step + 1}: “${text}”: log-probability ${leaf.log_probability.toFixed(3)}${score}; ${fate}`;
}
