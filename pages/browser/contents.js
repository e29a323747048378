import { begin, buttonOf, element } from "../../viz/canvas.js";
import { content } from "../streamlit_fixes/dom.js";

/**
 * @typedef {object} Header
 * @property {{ name: string, of: string }[]} entries the sections, and the selector of each
 */

const NEAR = 40; // a section is reached if it is at most this many pixels below its place after scrolling to it

/**
 * Draw a table of contents for a long page: it marks the current section, and a click on a section scrolls to it.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root } = begin(mount);
  root.forget?.();
  let asked = -1; // the section that was clicked, until the reader scrolls by hand
  const buttons = header.entries.map(({ name }, index) => {
    const show = () => {
      asked = index;
      keep(pace());
      mark();
    };
    const content = [element("span", "number", String(index + 1)), element("span", "name", name)];
    return buttonOf("", content, show, { title: name });
  });
  root.replaceChildren(element("nav", "", buttons, { "aria-label": "On this page" }));

  /** @param {ScrollBehavior} behavior */
  function keep(behavior) {
    if (asked >= 0) sectionOf(asked)?.scrollIntoView({ behavior, block: "start" });
  }
  function mark() {
    const reached = header.entries.findLastIndex((_, index) => {
      const section = sectionOf(index);
      return section && section.getBoundingClientRect().top <= margin(section) + NEAR;
    });
    const current = asked >= 0 ? asked : Math.max(reached, 0);
    buttons.forEach((button, index) => {
      if (index === current) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
  }
  /** @returns {HTMLElement | null} */
  function sectionOf(index) {
    return document.querySelector(header.entries[index].of);
  }
  mark();

  const listening = new AbortController();
  const options = { capture: true, passive: true, signal: listening.signal };
  document.addEventListener("scroll", mark, options);
  const release = () => (asked = -1);
  for (const type of ["wheel", "touchmove", "pointerdown", "keydown"])
    document.addEventListener(type, release, options);
  // Pictures above the clicked section may change their heights later: then scroll to it again.
  const heights = new ResizeObserver(() => (keep("instant"), mark()));
  if (content()) heights.observe(content());
  root.forget = () => {
    listening.abort();
    heights.disconnect();
  };
  return root.forget;
}

/** Return how many pixels below the top of the window an element is after scrolling to it. */
function margin(section) {
  return parseFloat(getComputedStyle(section).scrollMarginTop) || 0;
}

/** Return how to scroll: smoothly, or at once for readers who prefer less motion.
 * @returns {ScrollBehavior}
 */
function pace() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
}
