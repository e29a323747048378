import { begin } from "../../viz/canvas.js";

/**
 * @typedef {object} Header
 * @property {string} of the selector of what is to be seen
 * @property {number} number of the time that this is asked
 */

const UPPER = 0.5; // of the window, in which its beginning is in sight

/**
 * Scroll what a click has opened into sight, if its beginning is not, once the page is drawn.
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
