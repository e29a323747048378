import { begin } from "../../viz/canvas.js";
import { isRunning } from "../streamlit_fixes/dom.js";

/**
 * @typedef {object} Header
 * @property {string} of the selector of the control to click
 * @property {string} once names the request
 */

let pressed = ""; // the last request

/**
 * Click a control once for each request, when the page is drawn: before that, it may not be there
 * yet, or be that of an earlier file. A request stays done when its page is drawn again.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { of, once } = begin(mount).header;
  let waiting = requestAnimationFrame(look);
  function look() {
    if (once === pressed) return;
    /** @type {HTMLElement | null} */
    const control = isRunning() ? null : document.querySelector(of);
    if (control) pressed = once;
    else waiting = requestAnimationFrame(look);
    control?.click();
  }
  return () => cancelAnimationFrame(waiting);
}
