import { begin, buttonOf, contextOf, element, fitCanvas, isSaved, isStaged, letterScale, onRoom, roomOf, topIn } from "../canvas.js";
import { themeColor } from "../colors.js";
import { written } from "../numbers.js";
import { moveFocus, onPointing } from "../pointing.js";
import { widestOf } from "../strokes.js";

/**
 * @typedef {object} Header
 * @property {string[]} queries
 * @property {string[]} keys
 * @property {["query" | "key", number] | null} lit the token whose lines are kept at first: its side and its index from 0
 * @property {boolean} keeps true if a click keeps a token's lines
 * @property {string} words the largest weights in words, for screen readers
 */

const ROW = 26; // the height in pixels of a token's row
const LOWEST_ROW = 18; // the least height of a row in pixels
const STAGED = { lowest: 19, highest: 40 }; // the least and the largest height of a row on a slide, in pixels
const AROUND = 48; // pixels for the words above the rows and the edge below them
const WIDEST = 0.38; // the largest share of the width for the tokens of a side
const WHOLE = 240; // the largest width in pixels for the tokens of a side on a slide
const LONGEST = written(Number.MIN_VALUE); // the longest text of a weight
const BESIDE = 30; // pixels around a token and its weight
const CHUNK = 32; // tokens in a chunk of a column; the browser skips the layout of chunks out of view
const FAINTEST = 0.004; // a line of a smaller weight could not be seen
const MOST_LINES = 4096; // the most lines drawn at once: all of 64 by 64 tokens
const FINEST = 2 ** 24; // for sorting, weights are rounded to multiples of 1 / 2 ** 24

/**
 * Draw lines between two columns of tokens; a token that is pointed at or chosen hides all lines
 * but its own.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root, answer } = begin(mount);
  const { queries, keys, lit } = header;
  const weights = new Float32Array(array.buffer);
  const canvas = element("canvas", "", "", { role: "img", "aria-label": header.words });
  const lines = strongestFirst(weights);
  const endsOf = (line) => [Math.floor(line / keys.length), line % keys.length];
  let pointed = null; // the { side, index } of the token that has the pointer or the focus
  const count = Math.max(queries.length, keys.length);
  let chosen = lit && { side: lit[0], index: lit[1] }; // the clicked token, whose lines stay
  let width = 0;
  let row = ROW;

  const column = (tokens, side) =>
    tokens.map((text, index) => {
      const weight = element("span", "weight");
      const name = element("span", "name cut", text);
      const content = side === "query" ? [weight, name] : [name, weight];
      const choose = () => {
        if (!header.keeps) return;
        chosen = chosen?.side === side && chosen.index === index ? null : { side, index };
        update();
        answer(chosen && [side, index]);
      };
      const button = buttonOf(`token ${side}`, content, choose, {
        title: text,
        "aria-pressed": "false",
        "data-place": `${side} ${index}`,
      });
      const point = (to) => {
        pointed = to;
        update();
      };
      onPointing(button, () => point({ side, index }), () => point(null));
      return button;
    });
  const shown = () => (isSaved() ? chosen : (pointed ?? chosen));
  const buttons = { query: column(queries, "query"), key: column(keys, "key") };
  // For the arrow keys: the two buttons of each row. The shorter side repeats its last button.
  const places = Array.from({ length: 2 * count }, (_, at) => {
    const side = at % 2 ? buttons.key : buttons.query;
    return side[Math.min(Math.floor(at / 2), side.length - 1)];
  });
  const columns = Object.entries(buttons).map(([side, tokens]) => {
    const chunks = [];
    for (let first = 0; first < tokens.length; first += CHUNK) {
      const some = tokens.slice(first, first + CHUNK);
      chunks.push(element("div", "chunk", some, { style: `--count: ${some.length}` }));
    }
    return element("div", "column", chunks, {
      style: `grid-row: 2; grid-column: ${side === "query" ? 1 : 3}`,
    });
  });
  const strip = element("div", "strip", [canvas]);
  const sheet = element("div", "sheet", [
    element("div", "heading left", "query: looking"),
    element("div", "heading"),
    element("div", "heading", "key: looked at"),
    strip,
    ...columns,
  ]);
  sheet.onkeydown = (event) => moveFocus(event, places, 2);
  const note = element("p", "note");
  const focused = root.querySelector(".token:focus-visible")?.dataset.place;
  setRow(roomOf(root)); // before the tokens are shown, so that hundreds of them are not laid out twice
  root.replaceChildren(note, sheet);
  if (focused) root.querySelector(`[data-place="${focused}"]`)?.focus();

  function update() {
    const words = shown() ? "The other tokens are above and below: scroll." : "Drawn: the strongest lines that begin or end in view.";
    const said = fits() ? "" : words;
    if (note.textContent !== said) note.textContent = said; // only written if it differs, because this runs whenever a token is pointed at
    write();
    render();
  }
  function fits() {
    return strip.clientHeight <= root.clientHeight;
  }
  /** Scroll once to the chosen token, and to the other end of its strongest line if both fit. */
  function bring() {
    const key = JSON.stringify([lit, queries, keys]);
    if (root.brought === key || !chosen || fits()) return;
    root.brought = key;
    const pair = endsOf(linesBetween(0, 0)[0] ?? 0).sort((one, other) => one - other);
    const room = heightInSight();
    const isNear = row * (pair[1] - pair[0] + 1) < room - AROUND;
    const [first, last] = isNear ? pair : [chosen.index, chosen.index];
    const top = topIn(root, strip);
    const covered = sheet.firstChild.offsetHeight; // pixels under the headings, which stay at the top
    const isInView = top + row * first >= covered && top + row * (last + 1) <= room;
    if (!isInView) root.scrollTop += top + row * first - AROUND;
  }
  /** Return how many pixels of the picture are above the window's lower end; all if it is out of view. */
  function heightInSight() {
    const shown = innerHeight - root.getBoundingClientRect().top;
    return shown > 2 * AROUND ? Math.min(shown, root.clientHeight) : root.clientHeight;
  }
  /** Set the height of a row so that all rows fill the room; on a slide, words take `above` pixels of it. */
  function setRow({ fills, height }, above = 0) {
    const [lowest, highest] = fills ? [STAGED.lowest, STAGED.highest] : [LOWEST_ROW, ROW];
    const fitting = Math.floor((height - (fills ? above : AROUND)) / count);
    row = Math.max(lowest * letterScale(), Math.min(highest * letterScale(), fitting));
    if (sheet.style.getPropertyValue("--row") !== `${row}px`) {
      sheet.style.setProperty("--row", `${row}px`);
    }
  }

  /** Return the width in pixels for a side's tokens and the weights next to them. */
  function needed(tokens) {
    const context = contextOf(canvas);
    const { fontSize, fontFamily } = getComputedStyle(sheet);
    context.font = `${fontSize} ${fontFamily}`;
    const widest = widestOf(context, tokens) + widestOf(context, [LONGEST]) + BESIDE;
    return Math.min(isStaged(root) ? WHOLE : WIDEST * sheet.clientWidth, widest); // a slide is scaled to fit this width
  }

  /** Write the shown token's weights next to the tokens of the other side, and mark the chosen token.
   *
   * Each side can be reached with the Tab key: on a slide, left and right arrows turn the slides.
   */
  function write() {
    const token = shown();
    for (const [side, tokens] of Object.entries(buttons)) {
      const opposite = token && token.side !== side;
      const stop = [pointed, chosen].find((each) => each?.side === side)?.index ?? 0;
      tokens.forEach((button, index) => {
        const [query, key] = side === "query" ? [index, token?.index] : [token?.index, index];
        const text = opposite ? written(weights[query * keys.length + key]) : "";
        const weight = side === "query" ? button.firstChild : button.lastChild;
        if (weight.textContent !== text) weight.textContent = text;
        const pressed = String(chosen?.side === side && chosen.index === index);
        if (button.ariaPressed !== pressed) button.ariaPressed = pressed;
        button.tabIndex = index === stop ? 0 : -1;
      });
    }
  }

  /** Return the lines to draw: those of the shown token or, without one, the strongest with an end in view. */
  function linesBetween(top, bottom) {
    const token = shown();
    const inView = (index) => row * (index + 1) > top && row * index < bottom;
    const strongest = [];
    for (const line of lines) {
      const query = Math.floor(line / keys.length); // not `endsOf`: an array for each of 100,000 lines is slow
      const key = line % keys.length;
      if (token ? token.index === (token.side === "query" ? query : key) : inView(query) || inView(key))
        strongest.push(line);
      if (strongest.length === MOST_LINES) break;
    }
    return strongest;
  }

  // The canvas is only as large as the part in view and moves with it, since a canvas cannot be as
  // tall as hundreds of tokens.
  function render() {
    const height = Math.min(strip.clientHeight, root.clientHeight);
    const context = fitCanvas(canvas, width, height);
    const top = topIn(strip, canvas);
    context.translate(0, -top);
    context.strokeStyle = themeColor(root, "accent");
    for (const line of linesBetween(top, top + height)) {
      const [from, to] = endsOf(line).map((index) => row * (index + 0.5));
      context.globalAlpha = Math.min(1, 0.06 + 0.94 * weights[line]);
      context.lineWidth = 0.5 + 7 * weights[line];
      context.beginPath();
      context.moveTo(0, from);
      context.bezierCurveTo(width * 0.4, from, width * 0.6, to, width, to);
      context.stroke();
    }
  }

  root.onscroll = () => requestAnimationFrame(render);
  return onRoom(root, () => {
    const room = roomOf(root);
    root.style.maxHeight = room.fills || room.height === Infinity ? "" : `${room.height}px`;
    note.textContent = canvas.style.height = ""; // the old heights of note and canvas must not count in scrollHeight
    canvas.height = 0;
    setRow(room, root.scrollHeight - strip.clientHeight);
    sheet.style.setProperty("--left", `${needed(queries)}px`);
    sheet.style.setProperty("--right", `${needed(keys)}px`);
    width = strip.clientWidth;
    update();
    bring();
  });
}

/**
 * Return the indices of the weights large enough to be drawn, the largest weight first.
 *
 * It sorts numbers made of a weight and its index, which is faster than sorting with a function.
 * @param {Float32Array} weights
 */
function strongestFirst(weights) {
  const codes = new Float64Array(weights.length);
  let seen = 0;
  weights.forEach((weight, line) => {
    if (weight >= FAINTEST) codes[seen++] = weights.length * Math.round((1 - weight) * FINEST) + line;
  });
  return Uint32Array.from(codes.subarray(0, seen).sort(), (code) => code % weights.length);
}
