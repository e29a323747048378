import { begin } from "../../viz/canvas.js";

/**
 * @typedef {object} Header
 * @property {string} of the selector of the control to click
 * @property {number} number of the request
 */

let pressed = 0; // number of the last request

/**
 * Click a control once for each request, when the page is drawn.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { of, number } = begin(mount).header;
  let waiting = requestAnimationFrame(look);
  function look() {
    if (number === pressed) return;
    /** @type {HTMLElement | null} */
    const control = document.querySelector("[data-test-script-state=running]") ? null : document.querySelector(of);
    if (control) pressed = number;
    else waiting = requestAnimationFrame(look);
    control?.click();
  }
  return () => cancelAnimationFrame(waiting);
}
