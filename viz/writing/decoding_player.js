import { begin, buttonOf, element, onWidth, scrollable } from "../canvas.js";
import { colorTable } from "../colors.js";
import { written } from "../numbers.js";
import { transport } from "../transport.js";
import { makeAlignment } from "./alignment.js";
import { closedCell, comingCell, weighedTokens, weightCell } from "./weighed_tokens.js";

/**
 * @typedef {object} Bar
 * @property {string} text
 * @property {number} probability
 * @property {string} before
 * @property {number | null} drawn
 * @property {number} rank
 * @property {boolean} chosen
 */

/**
 * @typedef {object} Header
 * @property {string[]} read the tokens that the last step has read, one more at each step, after a prompt if any
 * @property {string[] | null} source the source's tokens; null if there is no cross-attention
 * @property {string[]} texts the text before the first step, and after each step
 * @property {Bar[][]} bars the candidates of each step
 * @property {number} start the step at which the player opens, from 0
 * @property {string} ending the reason why there are no more steps
 * @property {boolean} tells true if the player sends the step at which it stops
 * @property {string[]} colors
 */

const AT_REST = 500; // milliseconds at a step before it is sent to the app

/**
 * Draw one step of a decoding at a time; buttons, a slider and a clock move between steps.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root, answer } = begin(mount);
  const { read, source, texts, bars, ending } = header;
  const steps = bars.length;
  const before = read.length - steps; // the number of tokens before the one that the first step looks from
  const values = new Float32Array(array.buffer);
  const selfAttention = values.subarray(0, steps * read.length);
  const crossAttention = values.subarray(steps * read.length, -steps * read.length);
  const visible = values.subarray(-steps * read.length);
  const colors = colorTable(header.colors);

  // With another head the player stays at its step. With another decoding or another start, it goes
  // to the start, except if the app only sends back a start that the player has sent.
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
    event.stopPropagation(); // letters typed here must not act as shortcuts of the page
    if (event.key === "Enter" && typed.value.trim()) {
      answer([root.step, typed.value]);
    }
  };
  typed.onfocus = player.pause;

  const text = element("p", "text", "", { "aria-live": "polite" });
  if (!source) scrollable(text, "Text"); // without a source, the text begins with a prompt, which may be long
  const seen = element("div", "seen");
  const candidates = element("div", "");
  const panes = element("div", "panes", [seen, element("div", "next", [candidates, typed])]);
  const wrote = bars.map((candidates) => candidates.find((bar) => bar.chosen)?.text ?? "");
  const alignment =
    source &&
    makeAlignment(root, {
      read: read.slice(before),
      wrote,
      source,
      weights: crossAttention,
      colors,
      choose(step) {
        player.pause();
        go(step);
      },
    });
  if (alignment) panes.append(alignment.figure);
  root.replaceChildren(player.controls, text, panes);
  root.querySelector(`[data-name="${focused}"]`)?.focus();

  function go(step) {
    root.step = step;
    render();
    clearTimeout(root.resting);
    if (header.tells) root.resting = setTimeout(tell, AT_REST);
  }
  /** Send the step to the app unless the app knows it; while the steps play or are filmed, wait. */
  function tell() {
    if (!root.isConnected || root.step === [root.start, ...root.told].at(-1)) return;
    if (root.playing || root.filmed) return void (root.resting = setTimeout(tell, AT_REST));
    root.told.push(root.step);
    answer([root.step, null]);
  }

  function render() {
    const { step } = root;
    player.update();
    const prompt = source ? "" : texts[0];
    const end = texts[steps] === texts[steps - 1] ? ` ${wrote[steps - 1]}` : ""; // a token without a text of its own
    text.replaceChildren(
      element("span", "prompt", prompt),
      element("span", "", texts[step].slice(prompt.length)),
      element("span", "new", texts[step + 1].slice(texts[step].length) || ` ${wrote[step]}`),
    );
    if (step === steps - 1) text.append(element("span", "ending", ending));
    else if (source) text.append(...later(texts[steps].slice(texts[step + 1].length) + end, ending));
    text.scrollTop = text.scrollHeight;
    const own = ownWeights();
    const isClosed = own.querySelector(".weight") === null;
    const looks = isClosed ? "All tokens that it could look at are closed:" : "It looks at:";
    seen.replaceChildren(
      element("p", "heading", `“${read[before + step]}” has just been read. ${looks}`),
      own,
    );
    const newest = own.querySelector(".newest");
    own.scrollTop = newest.offsetTop + newest.offsetHeight - own.offsetTop - own.clientHeight;
    if (source) seen.append(...sourceWeights());
    const drawn = bars[step].find((bar) => bar.chosen && bar.drawn !== null);
    const hint = element("span", "hint", "; click one to force it here");
    const buttons = bars[step].map((bar, place) => barButton(bar, () => answer([step, place])));
    candidates.replaceChildren(
      ...(drawn ? [element("p", "hint key", drawnWords(drawn))] : []),
      element("p", "heading", ["The likeliest next tokens", hint, ":"]),
      element("div", "bars", buttons),
      ...(drawn ? [element("p", "key", "Bars: the model's probability. Ticks: the probability with which a token is drawn.")] : []),
    );
    alignment?.draw(step);
  }

  /** Make a list of the tokens read, each over its weight; with a source, leave room for later tokens. */
  function ownWeights() {
    const { step } = root;
    const newest = before + step;
    const weigh = (key) => {
      if (key > newest) return comingCell();
      const at = step * read.length + key;
      return visible[at] ? weight(selfAttention[at], "decoder", key) : closedCell();
    };
    const state = (key) =>
      [key > newest && "later", key === newest && "newest", !source && key <= before && "prompt"]
        .filter(Boolean)
        .join(" ");
    const tokens = source ? read : read.slice(0, newest + 1);
    const list = weighedTokens("Weights of this step", tokens, weigh, state);
    if (source) return paired(list);
    list.children[before].after(element("span", "end", "end of the prompt"));
    return list;
  }
  function sourceWeights() {
    const start = root.step * source.length;
    const weights = crossAttention.subarray(start, start + source.length);
    const isClosed = weights.every((one) => one === 0);
    return [
      element("p", "heading", isClosed ? "It can see no token of the source:" : "In the source it looks at:"),
      paired(weighedTokens("Weights over the source", source, (key) => weight(weights[key], "cross", key))),
    ];
  }
  const weight = (value, kind, key) =>
    weightCell(value, colors, () => answer([root.step, { kind, key }]));

  player.resume();
  const forget = onWidth(root, () => {
    alignment?.fit();
    render();
  });
  return () => {
    player.stop();
    forget();
  };
}

/** Keep the last two tokens of a list together, so that a line never holds only the last token. */
function paired(list) {
  list.append(element("div", "pair", [...list.children].slice(-2)));
  return list;
}

/** Reserve room for the text of later steps, so that nothing moves while the steps play. */
function later(rest, ending) {
  const room = (name, words) => element("span", name, "", { "data-room": words });
  return [room("rest", rest), room("ending", ending)];
}

/** Make a button for a candidate, with a bar for its probability, and a tick for its probability in sampling. */
function barButton(bar, pick) {
  const track = [element("span", "fill", "", { style: `width: ${100 * bar.probability}%` })];
  if (bar.drawn !== null) {
    track.push(element("span", "tick", "", { style: `left: calc(${100 * bar.drawn}% - 1px)` }));
  }
  const content = [
    element("span", "name cut", [element("span", "before", bar.before), element("span", "", bar.text)]),
    element("span", "track", track),
    element("span", "value", percent(bar.probability)),
  ];
  return buttonOf(bar.chosen ? "control bar chosen" : "control bar", content, pick, {
    "aria-label": `Force “${bar.text}”, probability ${written(bar.probability)}`,
    "aria-pressed": String(bar.chosen),
  });
}

/** Return a sentence on the token that was drawn: its own bar may be too short to see. */
function drawnWords(bar) {
  const share = Number((100 * bar.probability).toPrecision(2));
  const rank = bar.rank ? `, number ${bar.rank} of the likeliest` : "";
  return `“${bar.before}${bar.text}” was drawn. The model gives it ${share} %${rank}.`;
}

/** Return a probability in per cent; near 0 and 1 it is "<0.1 %" and ">99.9 %". */
function percent(probability) {
  const value = 100 * probability;
  if (value > 99.9) return ">99.9 %";
  if (value < 0.1) return "<0.1 %";
  return `${value.toFixed(value < 10 ? 2 : 1)} %`;
}
