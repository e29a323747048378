import { begin, buttonOf, element, isSaved, onWidth, rampOf, scrollable, topIn } from "../canvas.js";
import { written } from "../numbers.js";
import { arrowOf, onPointing, POINT_AT, TOUCHED } from "../pointing.js";

/**
 * @typedef {object} Header
 * @property {string[]} queries
 * @property {string[]} keys
 * @property {{ texts: string[], words: number[] }[]} blocks the only text, or that of the queries and that of the keys
 * @property {["query" | "key", number] | null} lit the token whose shades are kept, from 0
 * @property {boolean} keeps whether a click keeps a token's shades
 * @property {string} words for those who cannot see the shades
 */

const DARKEST = 60; // per cent of the accent colour in a shade: the letters on it can still be read
const MOST_NAMED = 3; // tokens with the largest weights
const LONGEST = 24; // letters of a token's name in a sentence
const ABOVE = 60; // pixels of text above a token that is scrolled to
const BREAK = /[\n⏎Ċ]|^<0x0A>$/; // a token with a line break
const TURNING = /[\u202a-\u202e\u2066-\u2069]/; // signs that change the direction of what follows
const LEFTWARD = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/g; // letters written from right to left
const DIRECTIONS = { query: "Where it looks", key: "What looks at it" };
const HEADINGS = { query: "query: looking", key: "key: looked at" };

const isSame = (one, other) => one?.side === other?.side && one?.index === other?.index;
const shadeOf = (share) => `color-mix(in srgb, var(--accent) ${Math.round(DARKEST * share)}%, var(--paper))`;
const named = (label) => `“${label.length > LONGEST ? `${label.slice(0, LONGEST - 1)}…` : label}”`;

/**
 * Write one text or two; pointing at a token or choosing it shades those that it looks at, or that look at it.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root, answer } = begin(mount);
  const { queries, keys, blocks, lit, keeps } = header;
  const weights = new Float32Array(array.buffer);
  const labels = { query: queries, key: keys };
  const isOne = blocks.length === 1;
  const sides = isOne ? ["both"] : ["query", "key"];
  let direction = lit?.[0] ?? root.direction ?? "query"; // what the tokens of the only text are
  let kept = lit && { side: lit[0], index: lit[1] }; // the clicked token
  let pointed = null; // the token under the pointer or the focus
  let tapped = null; // the token that a finger has tapped last

  const note = element("p", "note", "", { role: "status" });
  const low = element("span", "", "weight 0");
  const limit = element("span");
  const legend = element("div", "scale", [low, rampOf([shadeOf(0), shadeOf(1)]), limit], { "aria-hidden": "true" });
  const switches = Object.entries(DIRECTIONS).map(([side, name]) => buttonOf("control", name, () => turn(side)));
  const tokens = blocks.map(({ texts }, block) =>
    texts.map((text, index) => {
      const token = () => ({ side: isOne ? direction : sides[block], index });
      const shown = element("span", "token", text.replaceAll("\n", "⏎"), { role: "button", "data-place": `${sides[block]} ${index}` });
      shown.classList.toggle("apart", TURNING.test(text));
      shown.onclick = () => choose(token());
      onPointing(shown, () => point(token()), () => point(null));
      return shown;
    }),
  );
  const texts = blocks.map((block, at) => {
    const lines = block.texts.flatMap((text, index) => {
      const last = block.texts[index - 1];
      const isNewLine = last !== undefined && BREAK.test(last);
      const gap = last !== undefined && block.words[index] !== block.words[index - 1] ? [" "] : [];
      return [...(isNewLine ? [element("br")] : gap), tokens[at][index]];
    });
    const whole = block.texts.join("");
    const isLeftward = (whole.match(LEFTWARD) ?? []).length > (whole.match(/\p{L}/gu) ?? []).length / 2;
    const text = element("div", "text", lines, { dir: isLeftward ? "rtl" : "ltr" });
    return scrollable(text, at ? HEADINGS.key : header.words);
  });
  const columns = isOne ? texts : texts.map((text, at) => element("div", "", [element("p", "heading", HEADINGS[sides[at]]), text]));
  const sheet = element("div", isOne ? "sheet" : "sheet two", columns);
  sheet.onkeydown = press;
  const focused = root.querySelector(".token:focus-visible")?.dataset.place;
  root.replaceChildren(...(isOne ? [element("div", "controls", switches)] : []), note, sheet, legend);
  update();
  if (focused) root.querySelector(`[data-place="${focused}"]`)?.focus();
  bring();
  return onWidth(root, update, Math.floor(root.clientWidth));

  /** The token of a side of the text, as the block and the place in it. */
  function elementOf({ side, index }) {
    return tokens[isOne || side === "query" ? 0 : 1][index];
  }
  /** Whether the weight between the kept token and the one pointed at is read. */
  function isPair() {
    return !isSaved() && kept && pointed && (isOne || kept.side !== pointed.side);
  }
  function weightOf(token, other) {
    const [query, key] = token.side === "query" ? [token.index, other] : [other, token.index];
    return weights[query * keys.length + key];
  }

  function update() {
    const token = isSaved() || isPair() ? kept : (pointed ?? kept);
    const opposite = token?.side === "query" ? "key" : "query";
    const shares = token ? labels[opposite].map((_, index) => weightOf(token, index)) : [];
    const largest = Math.max(0, ...shares);
    tokens.forEach((block, at) => {
      const isShaded = token && (isOne || sides[at] === opposite);
      const stop = [pointed, kept].find((each) => each && (isOne || each.side === sides[at]))?.index ?? 0;
      block.forEach((shown, index) => {
        const share = isShaded ? shares[index] : 0;
        shown.style.background = share ? shadeOf(share / largest) : "";
        if (isShaded) shown.ariaLabel = `${labels[opposite][index]}: ${written(share)}`;
        else shown.removeAttribute("aria-label");
        shown.ariaPressed = String(kept !== null && shown === elementOf(kept));
        shown.tabIndex = index === stop ? 0 : -1;
      });
    });
    legend.style.visibility = token ? "" : "hidden";
    limit.textContent = written(largest);
    switches.forEach((button, at) => (button.ariaPressed = String(Object.keys(DIRECTIONS)[at] === direction)));
    const said = isPair() ? pair() : token ? strongest(token, opposite, shares) : "";
    note.replaceChildren(said, element("span", "hint", hint(said)));
  }
  function pair() {
    const [query, key] = kept.side === "query" ? [kept, pointed] : [pointed, kept];
    const weight = written(weightOf(kept, pointed.index));
    return `${named(queries[query.index])} looks at ${named(keys[key.index])}: weight ${weight}.`;
  }
  /** A sentence on the largest weights of a token. */
  function strongest(token, opposite, shares) {
    const name = named(labels[token.side][token.index]);
    const order = shares.map((_, index) => index).filter((index) => shares[index] > 0);
    order.sort((one, other) => shares[other] - shares[one]);
    const list = order.slice(0, MOST_NAMED).map((index) => `${named(labels[opposite][index])} ${written(shares[index])}`);
    if (token.side === "query") return list.length ? `${name} looks most at ${list.join(", ")}.` : `${name} looks at nothing.`;
    return list.length ? `${name} is looked at most by ${list.join(", ")}.` : `Nothing looks at ${name}.`;
  }
  function hint(said) {
    const keeping = !keeps ? "" : TOUCHED ? " Tap it again to keep its shades." : " Click it to keep its shades.";
    if (!said) return `${POINT_AT} a token to shade the text by its weights.${keeping}`;
    return kept && !pointed ? ` ${POINT_AT} another token to read its weight.` : "";
  }

  function point(token) {
    pointed = token;
    update();
  }
  /** Keep a token, or no longer; a finger's first tap only points. */
  function choose(token) {
    const isSecond = isSame(token, tapped);
    tapped = token;
    if (!keeps || (TOUCHED && !isSecond)) return point(token);
    kept = isSame(token, kept) ? null : token;
    point(kept ? null : token);
    answer(kept && [kept.side, kept.index]);
  }
  /** Shade what a token of the only text looks at, or what looks at it. */
  function turn(side) {
    direction = root.direction = side;
    if (kept) {
      kept = { ...kept, side };
      answer([side, kept.index]);
    }
    update();
  }
  function press(event) {
    const all = tokens.flat();
    const at = all.indexOf(event.target);
    const arrow = arrowOf(event);
    const isPress = event.key === "Enter" || event.key === " ";
    if (at < 0 || !(arrow || isPress)) return;
    const step = event.target.closest("[dir=rtl]") ? -1 : 1;
    const next = isPress ? null : arrow.down ? onNextLine(all, at, arrow.down) : all[at + step * arrow.across];
    event.preventDefault();
    event.stopPropagation();
    if (isPress) choose({ ...pointed, side: isOne ? direction : pointed.side });
    next?.focus();
  }
  /** Scroll a long text to the kept token, once. */
  function bring() {
    const key = JSON.stringify([lit, queries, keys]);
    if (root.brought === key || !kept) return;
    root.brought = key;
    const shown = elementOf(kept);
    const text = shown.closest(".text");
    text.scrollTop += Math.max(0, topIn(text, shown) - ABOVE);
  }
}

/** The nearest of some elements in the next line below another one, or above. */
function onNextLine(all, at, down) {
  const middles = all.map((one) => {
    const { left, top, width, height } = one.getBoundingClientRect();
    return { one, x: left + width / 2, y: top + height / 2, height };
  });
  const { x, y, height } = middles[at];
  const beyond = middles.filter((each) => down * (each.y - y) > height / 2);
  const line = down * Math.min(...beyond.map((each) => down * each.y));
  const near = beyond.filter((each) => Math.abs(each.y - line) < height / 2);
  return near.sort((one, other) => Math.abs(one.x - x) - Math.abs(other.x - x))[0]?.one;
}
