import { begin, element, fitCanvas, onWidth } from "../../../viz/canvas.js";
import { themeColor } from "../../../viz/colors.js";
import { line, ring } from "../../../viz/strokes.js";
import { transport } from "../../../viz/transport.js";

/**
 * @typedef {object} Header
 * @property {number[]} pairs names of the clocks
 * @property {number[]} turns how far the later hand of each clock is ahead, in radians
 * @property {number} offset how many positions the later hand is ahead of the first
 * @property {number} positions number of positions that the first hand takes
 * @property {string[] | null} names of both hands, such as query and key; null if both show positions
 */

const LARGEST = 150; // the largest width of a clock in pixels
const SMALLEST = 96;
const WORDS = 34; // pixels for the two lines under a clock
const PACE = 8; // positions per second when the player starts

/**
 * Draw clocks whose two hands show a position and a later one; a player moves both hands.
 * @param {import("../../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root } = begin(mount);
  const { pairs, turns, offset, positions, names } = header;
  const hands = new Float32Array(array.buffer); // [position, pair, sine and cosine], then the same for later hands
  const later = names ? hands.length / 2 : 0;
  root.position = Math.min(root.position ?? 0, positions - 1);
  const focused = root.querySelector(":focus")?.dataset.name;

  const canvas = element("canvas", "", "", { role: "img" });
  const now = element("p", "now", "", { "aria-live": "polite" });
  const player = transport(root, {
    count: () => positions,
    place: () => root.position,
    words: () => `position ${root.position}`,
    go: (to) => {
      root.position = to;
      render();
    },
    last: "Last position",
    slider: "Position of the first hand",
    speed: PACE,
    loops: true,
  });
  root.replaceChildren(canvas, player.controls, now);
  root.querySelector(`[data-name="${focused}"]`)?.focus();

  let width = 0;
  function render() {
    const { position } = root;
    player.update();
    const style = getComputedStyle(root);
    const colors = {
      text: style.color,
      first: themeColor(root, "accent"),
      later: themeColor(root, "warm"),
    };
    const most = Math.max(1, Math.floor(width / SMALLEST));
    const rows = Math.ceil(pairs.length / most);
    const across = Math.ceil(pairs.length / rows);
    const side = Math.min(LARGEST, Math.floor(width / across));
    const context = fitCanvas(canvas, side * across, (side + WORDS) * rows);
    context.font = `12px ${style.fontFamily}`;
    context.textAlign = "center";
    pairs.forEach((pair, clock) => {
      const x = side * ((clock % across) + 0.5);
      const y = (side + WORDS) * Math.floor(clock / across) + side / 2;
      const at = (place, from = 0) => hands.subarray(from + 2 * (place * pairs.length + clock)).slice(0, 2);
      drawClock(context, x, y, side / 2 - 8, at(position), at(position + offset, later), colors);
      context.fillStyle = colors.text;
      context.fillText(`pair ${pair}`, x, y + side / 2 + 8);
      context.fillText(`${degrees(turns[clock])}° ahead`, x, y + side / 2 + 24);
    });
    const first = names ? `The ${names[0]} at` : "Hands at";
    const second = names ? `the ${names[1]}` : "and";
    now.textContent = `${first} position ${position}, ${second} ${offset} later at ${position + offset}.`;
    canvas.setAttribute("aria-label", `${pairs.length} clocks. ${now.textContent}`);
  }
  player.resume();
  const forget = onWidth(root, (now) => {
    width = now;
    render();
  });
  return () => {
    player.stop();
    forget();
  };
}

/** Return an angle in degrees: a whole number from 10 on, below 10 with two significant digits. */
function degrees(turn) {
  const value = (turn * 180) / Math.PI;
  return value >= 10 ? value.toFixed(0) : value.toPrecision(2);
}

/** Draw a clock face, the angle from the first hand to the later one, and both hands. */
function drawClock(context, x, y, radius, first, later, colors) {
  const angle = ([sine, cosine]) => Math.atan2(sine, cosine) - Math.PI / 2;
  context.lineWidth = 1;
  context.strokeStyle = colors.text;
  context.globalAlpha = 0.35;
  ring(context, x, y, radius);
  context.globalAlpha = 0.2;
  context.fillStyle = colors.later;
  context.beginPath();
  context.moveTo(x, y);
  context.arc(x, y, radius * 0.55, angle(first), angle(later));
  context.fill();
  context.globalAlpha = 1;
  for (const [hand, color, thickness] of [
    [first, colors.first, 3],
    [later, colors.later, 2],
  ]) {
    context.strokeStyle = color;
    context.lineWidth = thickness;
    line(context, [x, y], [x + radius * hand[0], y - radius * hand[1]]);
  }
}
