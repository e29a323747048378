import { begin, channels, colorTable, drawTokens, element, fitCanvas, icon, inkOn, onWidth, pointerIn, scrollable, themeColor } from "../canvas.js";
import { transport } from "../transport.js";

/**
 * @typedef {object} Bar
 * @property {string} text
 * @property {number} probability
 * @property {string} before
 * @property {number | null} drawn
 * @property {boolean} chosen
 */

/**
 * @typedef {object} Header
 * @property {string[]} read all tokens: each step has read one more; those before, a prompt
 * @property {string[] | null} source null if there is no cross-attention
 * @property {string[]} texts what stood there before the first step, and after each
 * @property {Bar[][]} bars the candidates of each step
 * @property {number} start the step that it opens at, from 0
 * @property {string} ending why there are no more steps
 * @property {boolean} tells whether it answers with the step that it rests at
 * @property {string[]} colors
 */

const TICK = "M2 8.5 3.5 7l3 3 6-7L14 4.5 6.5 13z";
const CROSS = "M4 5l1-1 3 3 3-3 1 1-3 3 3 3-1 1-3-3-3 3-1-1 3-3z";
const LABEL = 130; // pixels for the tokens beside the alignment
const TOP = 84; // pixels for the tokens above it
const LARGEST = 24; // pixels of a cell's side
const SMALLEST = 9;
const AT_REST = 500; // milliseconds after which the page is told of a step

/**
 * Draw one step of a decoding at a time; buttons, a slider and a clock move between them.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root, answer } = begin(mount);
  const { read, source, texts, bars, ending } = header;
  const steps = bars.length;
  const before = read.length - steps; // tokens of the prompt, but for its last one
  const values = new Float32Array(array.buffer);
  const selfAttention = values.subarray(0, steps * read.length);
  const crossAttention = values.subarray(steps * read.length, -steps * read.length);
  const visible = values.subarray(-steps * read.length);
  const colors = colorTable(header.colors);

  // A new choice of head leaves the visitor at the step; another decoding begins at its start, and
  // so does another start, but for one that comes back because the page was told of it.
  const identity = JSON.stringify([read, texts]);
  const echo = root.identity === identity ? [root.start, ...root.told].indexOf(header.start) : -1;
  if (echo < 0) Object.assign(root, { identity, step: header.start, told: [] });
  else root.told = root.told.slice(echo);
  root.start = header.start;
  const focused = root.querySelector(":focus")?.dataset.name;

  const player = transport(root, {
    count: () => steps,
    place: () => root.step,
    words: () => `step ${root.step + 1} of ${steps}`,
    go,
  });

  const typed = root.querySelector(".typed") ?? element("input", "typed", "", {
    placeholder: "or type what to write here, and press Enter",
    "aria-label": "Text to force at this step",
    maxlength: 60,
    "data-name": "typed",
  });
  typed.onkeydown = (event) => {
    event.stopPropagation(); // letters are no shortcuts here
    if (event.key === "Enter" && typed.value.trim()) {
      answer([root.step, typed.value]);
    }
  };
  typed.onfocus = player.pause;

  const text = element("p", "text", "", { "aria-live": "polite" });
  if (!source) scrollable(text, "Text"); // which may be long before the first step
  const seen = element("div", "seen");
  const candidates = element("div", "");
  const next = element("div", "next");
  next.append(candidates, typed);
  const alignment = element("div", "alignment");
  const panes = element("div", "panes");
  panes.append(seen, next, ...(source ? [alignment] : []));
  const canvas = element("canvas", "", "", { role: "img" });
  const reading = element("p", "reading");
  const sheet = element("div", "sheet");
  sheet.append(canvas);
  scrollable(sheet, "Alignment");
  alignment.append(
    element("p", "heading", "The alignment so far: a row for each step, over the source"),
    sheet,
    reading,
  );
  root.replaceChildren(player.controls, text, panes);
  root.querySelector(`[data-name="${focused}"]`)?.focus();

  function go(step) {
    root.step = step;
    render();
    clearTimeout(root.resting);
    if (header.tells) root.resting = setTimeout(tell, AT_REST);
  }
  /** Tell the page of the step, unless it moves on or the page knows. */
  function tell() {
    if (!root.isConnected || root.step === [root.start, ...root.told].at(-1)) return;
    if (root.playing) return void (root.resting = setTimeout(tell, AT_REST));
    root.told.push(root.step);
    answer([root.step, null]);
  }

  function render() {
    const { step } = root;
    const chosen = bars[step].find((bar) => bar.chosen);
    player.update();
    const prompt = source ? "" : texts[0];
    text.replaceChildren(
      element("span", "prompt", prompt),
      element("span", "", texts[step].slice(prompt.length)),
      element("span", "new", texts[step + 1].slice(texts[step].length) || ` ${chosen?.text ?? ""}`),
    );
    if (step === steps - 1) text.append(element("span", "ending", ending));
    text.scrollTop = text.scrollHeight;
    const newest = before + step;
    seen.replaceChildren(
      element("p", "heading", `“${read[newest]}” has just been read. It may look at, and looks at:`),
    );
    if (source) {
      seen.append(
        table(read, [
          ["mask", (key) => maskCell(isVisible(key))],
          ["itself", (key) => (key <= newest ? weightCell(ownWeight(key), "decoder", key) : empty())],
        ], newest),
        element("p", "heading", "In the source it looks at:"),
        table(source, [["cross", (key) => weightCell(crossAttention[step * source.length + key], "cross", key)]]),
      );
    } else {
      const tokens = passage();
      seen.append(tokens);
      tokens.scrollTop = tokens.scrollHeight;
    }
    const drawn = bars[step].some((bar) => bar.drawn !== null);
    const heading = element("p", "heading", "The likeliest next tokens");
    heading.append(element("span", "hint", "; click one to force it here"), ":");
    const list = element("div", "bars");
    list.append(...bars[step].map((bar, place) => barButton(bar, () => answer([step, place]))));
    candidates.replaceChildren(
      heading,
      list,
      ...(drawn ? [element("p", "key", "Bars: the model's probability. Ticks: what it was drawn with.")] : []),
    );
    if (source) drawAlignment();
  }
  const isVisible = (key) => visible[root.step * read.length + key] > 0;
  const ownWeight = (key) => selfAttention[root.step * read.length + key];

  /** All that was read, each token over its weight, in lines as text is. */
  function passage() {
    const tokens = element("div", "passage");
    for (let key = 0; key <= before + root.step; key++) {
      const part = key <= before ? "token prompt" : "token";
      const token = element("div", key === before + root.step ? `${part} newest` : part);
      token.append(element("span", "name", read[key], { title: read[key] }));
      if (isVisible(key)) token.append(weightCell(ownWeight(key), "decoder", key, "div"));
      else token.append(maskCell(false, "div"));
      tokens.append(token);
      if (key === before) tokens.append(element("span", "end", "end of the prompt"));
    }
    return scrollable(tokens, "Weights of this step");
  }

  function weightCell(weight, kind, key, tag = "td") {
    const cell = element(tag, "weight");
    const button = element("button", "", weight.toFixed(2), {
      type: "button",
      title: `${weight.toFixed(4)}: click to see how it comes about`,
    });
    button.onclick = () => answer([root.step, { kind, key }]);
    cell.append(button);
    const [red, green, blue] = channels(colors[Math.round(Math.min(1, weight) * 255)]);
    cell.style.background = `rgb(${red},${green},${blue})`;
    cell.style.color = inkOn(red, green, blue);
    return cell;
  }

  let side = LARGEST;
  function drawAlignment() {
    const { step } = root;
    const style = getComputedStyle(root);
    const width = LABEL + side * source.length + TOP / 2;
    const context = fitCanvas(canvas, width, TOP + side * steps);
    context.font = `${Math.min(13, side - 1)}px ${style.fontFamily}`;
    const rows = bars.map((_, row) => (row <= step ? `${read[before + row]} → ${written(row)}` : ""));
    drawTokens(context, { rows, columns: source, side, left: LABEL, top: TOP, color: style.color });
    for (let row = 0; row < steps; row++) {
      for (let key = 0; key < source.length; key++) {
        const weight = crossAttention[row * source.length + key];
        const color = colors[Math.round(Math.min(1, weight) * 255)];
        context.globalAlpha = row <= step ? 1 : 0.06;
        context.fillStyle = row <= step ? `rgb(${channels(color)})` : style.color;
        context.fillRect(LABEL + side * key, TOP + side * row, side - 1, side - 1);
      }
    }
    context.globalAlpha = 1;
    context.strokeStyle = themeColor(root, "accent");
    context.lineWidth = 2;
    context.strokeRect(LABEL - 1, TOP + side * step - 1, side * source.length + 1, side + 1);
    canvas.ariaLabel = `Alignment after ${step + 1} of ${steps} steps`;
  }
  const written = (row) => bars[row].find((bar) => bar.chosen)?.text ?? "";
  canvas.onpointermove = (event) => {
    const cell = cellUnder(event);
    reading.textContent =
      cell === null || cell.row > root.step
        ? ""
        : `“${read[before + cell.row]}”, to write “${written(cell.row)}”, looks at “${source[cell.key]}”: ` +
          crossAttention[cell.row * source.length + cell.key].toFixed(4);
  };
  canvas.onclick = (event) => {
    const cell = cellUnder(event);
    if (cell === null) return;
    player.pause();
    go(cell.row);
  };
  function cellUnder(event) {
    const { x, y } = pointerIn(canvas, event);
    const row = Math.floor((y - TOP) / side);
    const key = Math.floor((x - LABEL) / side);
    const inside = row >= 0 && row < steps && key >= 0 && key < source.length;
    return inside ? { row, key } : null;
  }

  player.resume();
  const forget = onWidth(root, () => {
    if (source) side = Math.floor((alignment.clientWidth - LABEL - TOP / 2) / source.length);
    side = Math.max(SMALLEST, Math.min(LARGEST, side));
    render();
  });
  return () => {
    player.stop();
    forget();
  };
}

/** A row of tokens over rows of cells; tokens after `last` are not there yet. */
function table(tokens, rows, last = tokens.length) {
  const body = element("table", "cells");
  const head = element("tr", "");
  head.append(
    element("th", ""),
    ...tokens.map((token, index) => {
      const state = index === last ? "newest" : index > last ? "later" : "";
      return element("th", state, index > last ? "·" : token, { scope: "col", title: token });
    }),
  );
  body.append(head);
  for (const [name, cell] of rows) {
    const row = element("tr", "");
    row.append(element("th", "name", name, { scope: "row" }), ...tokens.map((_, key) => cell(key)));
    body.append(row);
  }
  const sheet = element("div", "sheet");
  sheet.append(body);
  return scrollable(sheet, "Weights of this step");
}

function maskCell(seen, tag = "td") {
  const words = seen ? "visible" : "blocked: not written yet, or closed";
  const cell = element(tag, seen ? "mask seen" : "mask", "", { title: words });
  cell.append(icon(seen ? TICK : CROSS));
  return cell;
}

function empty() {
  return element("td", "weight");
}

/** A candidate as a button: its probability as a bar, and a tick for what it was drawn with. */
function barButton(bar, pick) {
  const button = element("button", bar.chosen ? "control bar chosen" : "control bar", "", {
    type: "button",
    "aria-label": `Force “${bar.text}”, probability ${bar.probability.toFixed(3)}`,
    "aria-pressed": String(bar.chosen),
  });
  const name = element("span", "name");
  name.append(element("span", "before", bar.before), element("span", "", bar.text));
  const track = element("span", "track");
  track.append(element("span", "fill", "", { style: `width: ${100 * bar.probability}%` }));
  if (bar.drawn !== null) {
    track.append(element("span", "tick", "", { style: `left: calc(${100 * bar.drawn}% - 1px)` }));
  }
  button.append(name, track, element("span", "value", percent(bar.probability)));
  button.onclick = pick;
  return button;
}

/** A probability in three digits at most, and never 100 % or 0 if it is neither. */
function percent(probability) {
  const value = 100 * probability;
  if (value > 99.9) return ">99.9 %";
  if (value < 0.1) return "<0.1 %";
  return `${value.toFixed(value < 10 ? 2 : 1)} %`;
}
