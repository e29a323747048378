import { element } from "../../viz/canvas.js";

// Features that slides and pictures need, each with a test of whether the browser has it.
const NEEDED = {
  "the selector :has() of CSS": () => CSS.supports("selector(:has(a))"),
  "nested rules of CSS": () => CSS.supports("selector(&)"),
  "color-mix() of CSS": () => CSS.supports("color", "color-mix(in srgb, red, blue)"),
  "style sheets that scripts make": () => "adoptedStyleSheets" in document,
  "the function checkVisibility()": () => "checkVisibility" in Element.prototype,
};
const ENOUGH = "Use Chrome or Edge 112, Firefox 121, Safari 17.4, or a newer one.";
const ABOVE_ALL = "position: fixed; inset: 0 0 auto; z-index: 1000001; margin: 0; padding: 16px; background: #fff; color: #1a1a1a";

/** Return whether the browser can show slides and pictures; if not, show what it lacks. */
export function canShow() {
  const missing = Object.keys(NEEDED).filter((name) => !NEEDED[name]());
  if (!missing.length) return true;
  const words = `Headlight cannot be shown here: this browser lacks ${missing.join(", ")}. ${ENOUGH}`;
  document.body.append(element("p", "lacking", words, { role: "alert", style: ABOVE_ALL }));
  return false;
}
