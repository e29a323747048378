import { begin, buttonOf, element, isSaved, onWidth, rampOf, scrollable, topIn } from "../canvas.js";
import { written } from "../numbers.js";
import { arrowOf, onPointing, POINT_AT, TOUCHED } from "../pointing.js";

/**
 * @typedef {object} Header
 * @property {string[]} queries
 * @property {string[]} keys
 * @property {{ texts: string[], words: number[] }[]} blocks the only text, or the text of the queries and the text of the keys
 * @property {["query" | "key", number] | null} lit the token whose shades are kept at first: its side and its index from 0
 * @property {boolean} keeps true if a click keeps a token's shades
 * @property {string} words the largest weights in words, for screen readers
 */

const FULL = 60; // per cent of the accent colour in the strongest shade: the letters on it can still be read
const MOST_NAMED = 3; // how many of the largest weights a sentence names
const LONGEST = 24; // the most letters of a token in a sentence
const ABOVE = 60; // pixels of text that stay in view above a token that is scrolled to
const BREAK = /[\n⏎Ċ]|^<0x0A>$/; // matches a token with a line break
const TURNING = /[\u202a-\u202e\u2066-\u2069]/; // matches control characters that change the writing direction
const LEFTWARD = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/g; // matches letters that are written from right to left
const HEADINGS = ["query: looking", "key: looked at"];

const shadeOf = (share) => `color-mix(in srgb, var(--accent) ${Math.round(FULL * share)}%, var(--paper))`;
/** Return a token in quotes for a sentence; its writing direction does not affect the rest. */
const named = (label) => `“\u2068${label.length > LONGEST ? `${label.slice(0, LONGEST - 1)}…` : label}\u2069”`;

/**
 * Write one text or two. Pointing at a token, or choosing it, shades the tokens that it looks at, or
 * the tokens that look at it.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root, answer } = begin(mount);
  const { queries, keys, blocks, lit, keeps } = header;
  const weights = new Float32Array(array.buffer);
  const isOne = blocks.length === 1;
  let isKey = (lit?.[0] ?? root.side) === "key"; // for one text: true if the token pointed at is the key, so that the queries are shaded
  const sideOf = ({ block }) => ((isOne ? isKey : block) ? "key" : "query");
  const labelOf = (token) => (sideOf(token) === "key" ? keys : queries)[token.index];

  const tokens = blocks.map(({ texts }, block) =>
    texts.map((text, index) => {
      const attributes = { role: "button", "data-place": `${block} ${index}` };
      const shown = element("span", "token", text.replaceAll("\n", "⏎"), attributes);
      const token = { block, index, shown };
      shown.classList.toggle("apart", TURNING.test(text));
      shown.onclick = () => choose(token);
      onPointing(shown, () => point(token), () => point(null));
      return token;
    }),
  );
  const all = tokens.flat();
  let kept = lit && tokens[isOne || lit[0] === "query" ? 0 : 1][lit[1]]; // the clicked token
  let pointed = null; // the token under the pointer or the focus
  let tapped = null; // the token that was clicked or tapped last
  const note = element("p", "note", "", { role: "status" });
  const limit = element("span");
  const legend = element("div", "scale", ["weight 0", rampOf([shadeOf(0), shadeOf(1)]), limit], { "aria-hidden": "true" });
  const turn = buttonOf("control", "Shade what looks at it", turned);
  const columns = blocks.map(({ texts, words }, block) => {
    const lines = tokens[block].flatMap(({ shown, index }) => {
      if (index && BREAK.test(texts[index - 1])) return [element("br"), shown];
      return index && words[index] !== words[index - 1] ? [" ", shown] : [shown];
    });
    const whole = texts.join("");
    const isLeftward = 2 * (whole.match(LEFTWARD) ?? []).length > (whole.match(/\p{L}/gu) ?? []).length;
    const text = element("div", "text", lines, { dir: isLeftward ? "rtl" : "ltr" });
    return element("div", "", [
      ...(isOne ? [] : [element("p", "heading", HEADINGS[block])]),
      scrollable(text, block ? HEADINGS[block] : header.words),
    ]);
  });
  const sheet = element("div", "sheet", columns);
  sheet.onkeydown = press;
  const focused = root.querySelector(".token:focus-visible")?.dataset.place;
  root.replaceChildren(...(isOne ? [element("div", "controls", [turn])] : []), note, sheet, legend);
  render();
  root.querySelector(`[data-place="${focused}"]`)?.focus();
  return onWidth(root, render, Math.floor(root.clientWidth));

  function weightOf(token, other) {
    const [query, key] = sideOf(token) === "query" ? [token.index, other.index] : [other.index, token.index];
    return weights[query * keys.length + key];
  }
  function update() {
    const isPair = !isSaved() && kept && pointed && (isOne || kept.block !== pointed.block);
    const token = isSaved() || isPair ? kept : (pointed ?? kept);
    const shaded = token && (isOne ? 0 : 1 - token.block); // the index of the text that is shaded
    const others = token ? tokens[shaded] : [];
    const largest = Math.max(0, ...others.map((other) => weightOf(token, other)));
    for (const each of all) {
      const weight = each.block === shaded ? weightOf(token, each) : null;
      each.shown.style.background = weight ? shadeOf(weight / largest) : "";
      each.shown.ariaLabel = weight === null ? null : `${labelOf(each)}: ${written(weight)}`;
      each.shown.ariaPressed = String(each === kept);
      const stop = [pointed, kept].find((one) => one?.block === each.block) ?? tokens[each.block][0];
      each.shown.tabIndex = each === stop ? 0 : -1; // the Tab key reaches one token of each text
    }
    legend.style.visibility = token ? "" : "hidden";
    limit.textContent = written(largest);
    turn.ariaPressed = String(isKey);
    const said = isPair ? pair() : token ? strongest(token, others) : "";
    note.replaceChildren(said, element("span", "hint", hint(said)));
  }
  function pair() {
    const [query, key] = sideOf(kept) === "query" ? [kept, pointed] : [pointed, kept];
    return `${named(queries[query.index])} looks at ${named(keys[key.index])}: weight ${written(weightOf(kept, pointed))}.`;
  }
  /** Return a sentence on the largest weights of a token. */
  function strongest(token, others) {
    const [name, isQuery] = [named(labelOf(token)), sideOf(token) === "query"];
    const labels = isQuery ? keys : queries;
    const found = others.map((other) => [weightOf(token, other), labels[other.index]]).filter(([weight]) => weight > 0);
    const list = found.sort(([one], [other]) => other - one).slice(0, MOST_NAMED);
    if (!list.length) return isQuery ? `${name} looks at nothing.` : `Nothing looks at ${name}.`;
    const said = list.map(([weight, label]) => `${named(label)} ${written(weight)}`).join(", ");
    return `${name} ${isQuery ? "looks most at" : "is looked at most by"} ${said}.`;
  }
  function hint(said) {
    if (said) return kept && !pointed ? ` ${POINT_AT} another token to read its weight.` : "";
    const keeping = TOUCHED ? " Tap it again to keep its shades." : " Click it to keep its shades.";
    return `${POINT_AT} a token to shade the text by its weights.${keeps ? keeping : ""}`;
  }

  function point(token) {
    pointed = token;
    update();
  }
  /** Keep the shades of a clicked token, or end this at a second click; a finger's first tap only points. */
  function choose(token) {
    const isFirst = token !== tapped;
    tapped = token;
    if (!keeps || (TOUCHED && isFirst)) return point(token);
    kept = token === kept ? null : token;
    point(kept ? null : token);
    answer(kept && [sideOf(kept), kept.index]);
  }
  function turned() {
    isKey = !isKey;
    root.side = isKey ? "key" : "query";
    if (kept && keeps) answer([root.side, kept.index]);
    update();
  }
  function press(event) {
    const at = all.findIndex(({ shown }) => shown === event.target);
    const arrow = arrowOf(event);
    const isPress = event.key === "Enter" || event.key === " ";
    if (at < 0 || !(arrow || isPress)) return;
    event.preventDefault();
    event.stopPropagation(); // so that the space bar does nothing else on the page
    const step = event.target.closest("[dir=rtl]") ? -1 : 1;
    if (isPress) choose(all[at]);
    else (arrow.down ? onNextLine(all, at, arrow.down) : all[at + step * arrow.across])?.shown.focus();
  }
  /** Shade the text; scroll a long text to the kept token, once for each width. */
  function render(width = Math.floor(root.clientWidth)) {
    update();
    const seen = JSON.stringify([lit, queries, keys, width]);
    if (root.seen === seen || !kept || isSaved()) return;
    root.seen = seen;
    const text = kept.shown.closest(".text");
    text.scrollTop += topIn(text, kept.shown) - ABOVE;
  }
}

/** Return the token nearest to another one in the next line: below it, or above if `down` is -1. */
function onNextLine(all, at, down) {
  const boxes = all.map((token) => ({ token, box: token.shown.getBoundingClientRect() }));
  const { box } = boxes[at];
  const apart = (other) => down * (other.box.top - box.top);
  const beyond = boxes.filter((other) => apart(other) > box.height / 2);
  const nearest = Math.min(...beyond.map(apart));
  const line = beyond.filter((other) => apart(other) < nearest + box.height / 2);
  return line.sort((one, other) => Math.abs(one.box.left - box.left) - Math.abs(other.box.left - box.left))[0]?.token;
}
