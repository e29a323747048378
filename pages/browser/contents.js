import { begin, element } from "../../viz/canvas.js";

/**
 * @typedef {object} Header
 * @property {{ name: string, of: string }[]} entries what is on the page, and the selector of each
 */

const NEAR = 40; // pixels below where it comes to stand in which something counts as reached

/**
 * A list of what is on a long page: it says what is read now, and a click goes to another.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root } = begin(mount);
  root.forget?.();
  const list = element("nav", "", "", { "aria-label": "On this page" });
  const buttons = header.entries.map(({ name, of }, place) => {
    const number = element("span", "number", String(place + 1));
    const button = element("button", "", "", { type: "button", title: name });
    button.append(number, element("span", "name", name));
    button.onclick = () => found(of)?.scrollIntoView({ behavior: pace(), block: "start" });
    return button;
  });
  list.append(...buttons);
  root.replaceChildren(list);

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

/** How far below the top of the window something comes to stand. */
function margin(place) {
  return parseFloat(getComputedStyle(place).scrollMarginTop) || 0;
}

/** Whether to glide or to jump.
 * @returns {ScrollBehavior}
 */
function pace() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
}
