import { begin } from "../../viz/canvas.js";
import { isRunning } from "../streamlit_fixes/dom.js";

/**
 * @typedef {object} Header
 * @property {string} of the selector of the element to show
 * @property {number} number a number that differs for each request
 */

const UPPER = 0.5; // an element is in sight if its top is in this upper share of the window

/**
 * Scroll to an element that a click has opened, once the page is drawn, unless it is in sight.
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
    around.style.position = "static"; // not sticky while its place is measured: a sticky bar would always count as in sight
    const { top } = place.getBoundingClientRect();
    if (top < 0 || top > innerHeight * UPPER) place.scrollIntoView({ block: "start" });
    around.style.position = "";
  }
  return () => cancelAnimationFrame(waiting);
}
