import { begin, buttonOf, element } from "../../viz/canvas.js";

/**
 * @typedef {object} Header
 * @property {{ name: string, of: string }[]} entries the sections, and the selector of each
 */

const NEAR = 40; // pixels below its final position within which a section counts as reached

/**
 * A table of contents for a long page: it marks the present section, and a click goes to another.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root } = begin(mount);
  root.forget?.();
  const buttons = header.entries.map(({ name, of }, place) => {
    const show = () => found(of)?.scrollIntoView({ behavior: pace(), block: "start" });
    const content = [element("span", "number", String(place + 1)), element("span", "name", name)];
    return buttonOf("", content, show, { title: name });
  });
  root.replaceChildren(element("nav", "", buttons, { "aria-label": "On this page" }));

  function mark() {
    const reached = header.entries.findLastIndex(({ of }) => {
      const place = found(of);
      return place && place.getBoundingClientRect().top <= margin(place) + NEAR;
    });
    buttons.forEach((button, place) => {
      const current = place === Math.max(reached, 0);
      if (current) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
  }
  mark();
  document.addEventListener("scroll", mark, { capture: true, passive: true });
  root.forget = () => document.removeEventListener("scroll", mark, { capture: true });
  return root.forget;
}

/** @returns {HTMLElement | null} */
function found(selector) {
  return document.querySelector(selector);
}

/** How far below the top of the window an element comes to rest. */
function margin(place) {
  return parseFloat(getComputedStyle(place).scrollMarginTop) || 0;
}

/** Whether to glide or to jump.
 * @returns {ScrollBehavior}
 */
function pace() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
}
