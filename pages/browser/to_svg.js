// Turns a picture on the page into an SVG: texts stay texts, and canvases become the shapes drawn on
// them.

import { SVG, scaleOf } from "../../viz/canvas.js";
import { paper } from "../streamlit_fixes/dom.js";
import { listening } from "./canvas_recorder.js";
import { bitmap, fitting, measure, paintOf, round, shade, written } from "./svg_paint.js";

// Elements that files leave out: controls, hints, and the text about what is pointed at.
export const CONTROLS = ".transport, .controls, .compare, .whole-map, .hint, .reading, input, select, .modebar-container";
const SELECTED = ".small-map[aria-pressed=true]"; // the selected one of several small maps: files do not outline it
const ROUNDED = 0.01; // a scale that differs from 1 by less than this counts as 1
const MOST_TRIES = 12; // how many widths are tried until nothing is cut off
const EDGE = 16; // pixels around a picture with a caption
const BARE_EDGE = 4; // pixels around a picture without a caption, for its outline
const FILLED = 0.8; // the share of the width that lines of the caption may fill: other fonts are wider
const NARROWEST = 420; // the fewest pixels of width for a caption
const LETTERS = /\S{1,48}/gu; // matches a word, or the next 48 letters of a longer word

/**
 * Return the whole picture in `root` as an SVG element, below its caption if there is one.
 *
 * It is as large as on the page, or, with `cut`, only as large as the shapes in it.
 */
export function toSvg(root, what, caption, cut = false) {
  const restore = showWhole(root);
  try {
    const drawn = new Map(); // for each canvas: the SVG elements of what was drawn on it
    const make = (name, attributes = {}, ...children) => {
      const made = document.createElementNS(SVG, name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      made.append(...children);
      return made;
    };
    const listener = (canvas) => listening(canvas, drawn, make);
    for (const part of [root, ...root.querySelectorAll("*")]) part.redraw?.(listener);
    const box = root.getBoundingClientRect();
    const pen = { make, drawn, left: box.left, top: box.top };
    const content = make("g");
    describe(root, content, pen, 1);
    const whole = { x: 0, y: 0, width: Math.max(box.width, root.scrollWidth), height: Math.max(box.height, root.scrollHeight) };
    const drawnIn = cut ? cutTo(content, whole, make) : whole;
    const width = Math.ceil(Math.max(drawnIn.width, caption ? NARROWEST : 0));
    const height = Math.ceil(drawnIn.height);
    const headline = headlineOf(what, caption, width, pen);
    const edge = caption ? EDGE : BARE_EDGE;
    const top = caption ? headline.height + edge : 0;
    const size = { width: width + 2 * edge, height: top + height + 2 * edge };
    const corner = { x: drawnIn.x - edge, y: drawnIn.y - top - edge };
    const svg = make("svg", { ...size, viewBox: `${corner.x} ${corner.y} ${size.width} ${size.height}` });
    const fill = paintOf(getComputedStyle(paper()).backgroundColor);
    svg.append(
      make("title", {}, written(caption || what)),
      make("rect", { ...corner, ...size, fill: fill.alpha ? fill.color : "#fff" }),
      make("g", { transform: `translate(${drawnIn.x} ${drawnIn.y - top})` }, ...headline.lines),
      content,
    );
    return svg;
  } finally {
    restore();
  }
}

/** Return the box of a picture that its shapes fill. */
function cutTo(content, { width, height }, make) {
  const sheet = document.body.appendChild(make("svg", { style: "position: fixed; visibility: hidden" }, content));
  const box = content.getBBox();
  sheet.remove();
  const [x, y] = [Math.max(0, Math.floor(box.x)), Math.max(0, Math.floor(box.y))];
  return { x, y, width: Math.min(width, box.x + box.width) - x, height: Math.min(height, box.y + box.height) - y };
}

/** Show the whole picture without controls and scrollbars; returns a function that undoes this. */
function showWhole(root) {
  const undo = [];
  const opened = [];
  const set = (part, styles) => {
    const before = part.getAttribute("style");
    Object.assign(part.style, styles);
    undo.push(() => (before === null ? part.removeAttribute("style") : part.setAttribute("style", before)));
  };
  // Undo scaling: in a scaled picture, boxes are measured after the scaling, but letters before it.
  const scale = scaleOf(root);
  if (Math.abs(scale - 1) > ROUNDED) set(root, { transform: `scale(${1 / scale})` });
  for (const part of [root, ...root.querySelectorAll("*")]) {
    if (!(part instanceof HTMLElement)) continue;
    if (part.matches(CONTROLS)) set(part, { display: "none" });
    const { overflowX, overflowY, position } = getComputedStyle(part);
    if (part.matches(SELECTED)) set(part, { outline: "none" });
    if (position === "sticky") set(part, { position: "static" }); // a sticky part may cover other parts
    if ([overflowX, overflowY].some((flow) => flow === "auto" || flow === "scroll")) {
      set(part, { overflow: "visible", maxHeight: "none" });
      if (part !== root) opened.push(part);
    }
  }
  // The picture gets wider until parts that no longer scroll do not cover their neighbours.
  set(root, {});
  root.style.setProperty("--saved", "none"); // hides parts that are not saved, even those that are drawn later
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const missing = Math.max(0, ...opened.map((part) => part.scrollWidth - part.clientWidth));
    if (missing < 1) break;
    root.style.width = `${root.getBoundingClientRect().width + missing}px`;
  }
  return () => {
    undo.reverse().forEach((back) => back());
    for (const part of [root, ...root.querySelectorAll("*")]) part.redraw?.();
  };
}

/** Add the shapes of an element of the page, and of all elements in it, to a group. */
function describe(part, group, pen, opacity) {
  const style = getComputedStyle(part);
  if (style.display === "none" || style.visibility !== "visible") return;
  const shown = opacity * Number(style.opacity);
  if (!shown) return;
  const box = part.getBoundingClientRect();
  const x = round(box.left - pen.left);
  const y = round(box.top - pen.top);
  const place = { x, y, width: round(box.width), height: round(box.height) };
  // Text that goes on in the next line has a box in each line.
  for (const { left, top, width, height } of part.getClientRects()) {
    frame(part, style, { x: round(left - pen.left), y: round(top - pen.top), width: round(width), height: round(height) }, group, pen, shown);
  }
  if (part instanceof HTMLCanvasElement) {
    if (!part.width || !part.height || !box.width || !box.height) return;
    const view = { ...place, viewBox: `0 0 ${part.width} ${part.height}`, preserveAspectRatio: "none" };
    const noted = pen.drawn.get(part);
    if (noted) group.append(pen.make("svg", { ...view, opacity: shown }, ...noted));
    else group.append(pen.make("image", { ...place, opacity: shown, ...bitmap(part) }));
    return;
  }
  for (const child of part.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) writeText(child, style, group, pen, shown);
    else if (child instanceof SVGSVGElement) group.append(copyOf(child, pen));
    else if (child instanceof HTMLElement) describe(child, group, pen, shown);
  }
}

/** Add an element's background, border and outline to a group. */
function frame(part, style, place, group, pen, opacity) {
  if (!place.width || !place.height) return;
  const rx = Math.min(parseFloat(style.borderTopLeftRadius) || 0, place.height / 2);
  const add = (by, attributes) => {
    const grown = { x: place.x - by, y: place.y - by, width: place.width + 2 * by, height: place.height + 2 * by };
    const dashes = attributes.dashed ? { "stroke-dasharray": "4 3" } : {};
    delete attributes.dashed;
    group.append(pen.make("rect", { ...grown, rx: Math.max(0, rx + by), opacity, fill: "none", ...dashes, ...attributes }));
  };
  if (paintOf(style.backgroundColor).alpha) add(0, shade("fill", style.backgroundColor));
  const stops = style.backgroundImage.match(/^linear-gradient\(to right, (.*)\)$/)?.[1].match(/#\w+|\w+\([^)]*\)/g);
  if (stops) {
    const id = `ramp${Math.random().toString(36).slice(2)}`;
    const gradient = pen.make("linearGradient", { id });
    stops.forEach((color, at) =>
      gradient.append(pen.make("stop", { offset: at / (stops.length - 1), "stop-color": paintOf(color).color })),
    );
    group.append(gradient);
    add(0, { fill: `url(#${id})` });
  }
  const sides = ["Top", "Right", "Bottom", "Left"].map((side) => parseFloat(style[`border${side}Width`]));
  const wide = sides[2];
  if (wide && sides.every((side) => side === wide)) {
    const dashed = style.borderBottomStyle === "dashed";
    add(-wide / 2, { ...shade("stroke", style.borderBottomColor), "stroke-width": wide, dashed });
  } else if (wide) {
    const { x, y, width, height } = place;
    const line = { x, y: y + height - wide, width, height: wide };
    group.append(pen.make("rect", { ...line, opacity, ...shade("fill", style.borderBottomColor) }));
  }
  const outline = style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth);
  if (outline)
    add(parseFloat(style.outlineOffset) + outline / 2, { ...shade("stroke", style.outlineColor), "stroke-width": outline });
}

/** Add the lines of a text to a group, broken and cut off as on the page. */
function writeText(node, style, group, pen, opacity) {
  for (const { text, box } of linesOf(node)) {
    const cutter = cutting(node.parentElement);
    const room = cutter ? cutter.right - box.left : Infinity;
    if (room <= 0) continue;
    const whole = written(style.whiteSpace.startsWith("pre") ? text : text.replace(/\s+/g, " "));
    const font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const metrics = measure(whole, font);
    const cut = box.width > room + 1;
    const shown = cut ? fitting(whole, room, font) : whole;
    const at = {
      x: round(box.left - pen.left),
      y: round(box.top - pen.top + (box.height + metrics.fontBoundingBoxAscent - metrics.fontBoundingBoxDescent) / 2),
      textLength: round(cut ? measure(shown, font).width : box.width),
      lengthAdjust: "spacingAndGlyphs",
      opacity: round(opacity),
      ...shade("fill", style.color),
      style: `font: ${font}; white-space: pre`,
    };
    group.append(pen.make("text", at, ...(cut ? [pen.make("title", {}, whole)] : []), shown));
  }
}

/** Return the right edge of the nearest element that clips its content, or null. */
function cutting(part) {
  for (let at = part; at instanceof HTMLElement; at = at.parentElement)
    if (getComputedStyle(at).overflowX === "hidden") {
      const { left } = at.getBoundingClientRect();
      const { paddingRight } = getComputedStyle(at);
      return { right: left + at.clientLeft + at.clientWidth - parseFloat(paddingRight) };
    }
  return null;
}

/** Return the lines that a text is broken into on the page, each with its box. */
function linesOf(node) {
  const range = document.createRange();
  range.selectNodeContents(node);
  const boxes = [...range.getClientRects()].filter((box) => box.width);
  if (boxes.length < 2) return boxes.map((box) => ({ text: node.data.trim() ? node.data : "", box })).filter(({ text }) => text);
  const lines = [];
  for (let at = 0; at < node.length; at++) {
    const step = node.data.codePointAt(at) > 0xffff ? 2 : 1;
    range.setStart(node, at);
    range.setEnd(node, at + step);
    const box = range.getBoundingClientRect();
    const last = lines.at(-1);
    const sign = node.data.slice(at, at + step);
    at += step - 1;
    if (!box.width) continue;
    if (last && Math.abs(last.box.top - box.top) < box.height / 2) {
      last.text += sign;
      last.box = { ...last.box, width: Math.max(last.box.width, box.right - last.box.left) };
    } else {
      const { left, top, width, height } = box;
      lines.push({ text: sign, box: { left, top, width, height } });
    }
  }
  return lines;
}

/** Return a copy of an SVG on the page, such as Plotly's layers, Vega's marks or an icon. */
function copyOf(svg, pen) {
  const copy = svg.cloneNode(true);
  const { left, top } = svg.getBoundingClientRect();
  copy.setAttribute("x", round(left - pen.left));
  copy.setAttribute("y", round(top - pen.top));
  copy.querySelectorAll(".hoverlayer, .draglayer, .zoomlayer, .selectionlayer, script, foreignObject").forEach((part) => part.remove());
  if (svg.matches(".icon")) {
    const { width, height } = svg.getBoundingClientRect();
    for (const [name, value] of Object.entries({ width, height, ...shade("fill", getComputedStyle(svg).color) })) copy.setAttribute(name, value);
  }
  copy.style.background = "none";
  return copy;
}

/** Return a caption as lines that fit the width in any font, with the title `what` in bold. */
function headlineOf(what, caption, width, pen) {
  const { fontFamily, color } = getComputedStyle(paper());
  const whole = written(caption);
  const title = whole.startsWith(written(what)) ? written(what) : "";
  const lines = [];
  let height = 0;
  const rest = whole.slice(title.length).replace(/^\.\s*/, "");
  for (const [text, weight, size, opacity] of [[title, 600, 15, 1], [rest, 400, 12, 0.85]]) {
    const font = `${weight} ${size}px ${fontFamily}`;
    for (const line of wrapped(text, width * FILLED, font)) {
      height += size + 5;
      const at = { x: 0, y: height - 5, textLength: round(measure(line, font).width), lengthAdjust: "spacingAndGlyphs" };
      lines.push(pen.make("text", { ...at, ...shade("fill", color), opacity, style: `font: ${font}` }, line));
    }
  }
  return { lines, height };
}

/** Break a text into lines of at most `width` pixels; words that are too long are broken, too. */
function wrapped(text, width, font) {
  const lines = [];
  for (const word of text.match(LETTERS) ?? []) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && measure(longer, font).width <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
