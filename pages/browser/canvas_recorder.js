import { contextOf } from "../../viz/canvas.js";
import { bitmap, round, shade, written } from "./svg_paint.js";

/** Return a context of a canvas that draws as usual, and records all drawings as SVG elements. */
export function listening(canvas, drawn, make) {
  const context = contextOf(canvas);
  const noted = [];
  drawn.set(canvas, noted);
  let path = [];
  const point = (...at) => path.push(at);
  const note = (name, attributes, ...children) => {
    const { a, b, c, d, e, f } = context.getTransform();
    const opacity = context.globalAlpha === 1 ? {} : { opacity: round(context.globalAlpha) };
    const transform = `matrix(${[a, b, c, d, e, f].map(round).join(" ")})`;
    noted.push(make(name, { ...attributes, ...opacity, transform }, ...children));
  };
  const filled = () => shade("fill", context.fillStyle);
  const stroked = () => ({
    fill: "none",
    ...shade("stroke", context.strokeStyle),
    "stroke-width": round(context.lineWidth),
  });
  const rectangle = (x, y, width, height) => ({ x: round(x), y: round(y), width: round(width), height: round(height) });
  const watch = {
    fillRect: (...box) => note("rect", { ...rectangle(...box), ...filled() }),
    strokeRect: (...box) => note("rect", { ...rectangle(...box), ...stroked() }),
    beginPath: () => (path = []),
    moveTo: (x, y) => point("M", x, y),
    lineTo: (x, y) => point(path.length ? "L" : "M", x, y),
    bezierCurveTo: (...at) => point("C", ...at),
    arc: (x, y, radius, from, to, backwards) => path.push(...arcOf(path, x, y, radius, from, to, backwards)),
    stroke: () => note("path", { d: pathText(path), ...stroked() }),
    fill: () => note("path", { d: pathText(path), ...filled() }),
    fillText(text, x, y, most = Infinity) {
      const width = context.measureText(text).width;
      const anchor = { right: "end", center: "middle" }[context.textAlign] ?? "start";
      const middle = context.textBaseline === "middle" ? { "dominant-baseline": "central" } : {};
      const lengths = width ? { textLength: round(Math.min(width, most)), lengthAdjust: "spacingAndGlyphs" } : {};
      const at = { x: round(x), y: round(y), "text-anchor": anchor, ...middle, ...lengths };
      note("text", { ...at, ...filled(), style: `font: ${context.font}; white-space: pre` }, written(text));
    },
    drawImage(image, ...box) {
      const at = rectangle(...box.slice(-4));
      note("image", { ...at, ...bitmap(image) });
    },
  };
  return new Proxy(context, {
    get(target, name) {
      const value = target[name];
      if (typeof value !== "function") return value;
      return (...given) => {
        watch[name]?.(...given);
        return value.apply(target, given);
      };
    },
    set(target, name, value) {
      target[name] = value;
      return true;
    },
  });
}

/** Return the SVG path commands of an arc, each for at most a quarter of a turn. */
function arcOf(path, x, y, radius, from, to, backwards = false) {
  let turn = to - from;
  const full = 2 * Math.PI;
  if (Math.abs(turn) >= full) turn = Math.sign(turn) * full;
  else if (backwards && turn > 0) turn -= full;
  else if (!backwards && turn < 0) turn += full;
  const steps = Math.max(1, Math.ceil(Math.abs(turn) / (Math.PI / 2)));
  const at = (angle) => [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
  const parts = [[path.length ? "L" : "M", ...at(from)]];
  for (let step = 1; step <= steps; step++) {
    const end = at(from + (turn * step) / steps);
    parts.push(["A", radius, radius, 0, 0, turn > 0 ? 1 : 0, ...end]);
  }
  return parts;
}

const pathText = (path) => path.map(([letter, ...at]) => letter + at.map(round).join(" ")).join("");
