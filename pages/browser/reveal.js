import { begin } from "../../viz/canvas.js";
import { isRunning } from "../streamlit_fixes/dom.js";

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
    if (isRunning()) {
      waiting = requestAnimationFrame(look);
      return;
    }
    /** @type {HTMLElement | null} */
    const place = document.querySelector(of);
    if (!place) return;
    const around = place.parentElement;
    around.style.position = "static"; // else a bar that sticks to the top is always in sight
    const { top } = place.getBoundingClientRect();
    if (top < 0 || top > innerHeight * UPPER) place.scrollIntoView({ block: "start" });
    around.style.position = "";
  }
  return () => cancelAnimationFrame(waiting);
}
