import { begin } from "../../viz/canvas.js";

/**
 * @typedef {object} Header
 * @property {string} of the selector of the element to show
 * @property {number} number of the request
 */

const UPPER = 0.5; // of the window's height, within which its top counts as in sight

/**
 * Scroll the element that a click has opened into sight once the page is drawn, unless it is.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { of } = begin(mount).header;
  let waiting = requestAnimationFrame(look);
  function look() {
    if (document.querySelector("[data-test-script-state=running]")) {
      waiting = requestAnimationFrame(look);
      return;
    }
    const place = document.querySelector(of);
    const top = place?.getBoundingClientRect().top ?? 0;
    if (top < 0 || top > innerHeight * UPPER) place?.scrollIntoView({ block: "start" });
  }
  return () => cancelAnimationFrame(waiting);
}
