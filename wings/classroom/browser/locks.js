import { begin } from "../../../viz/canvas.js";
import { BUTTONS, CHOICES, main, openPopover, popoverBody } from "../../../pages/streamlit_fixes/dom.js";

/**
 * @typedef {object} Header
 * @property {string[]} open the keys of the controls that stay open
 * @property {boolean} buttons true if buttons stay open
 */

/**
 * Disable all controls of the page except those in `open`, now and whenever new ones appear.
 * @param {import("../../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { open, buttons } = begin(mount).header;
  const left = open.map((key) => `.st-key-${CSS.escape(key)}`).join(", ") || "#nothing";
  const page = main();
  function close() {
    const shut = buttons ? CHOICES : `${CHOICES}, ${BUTTONS}`;
    // The controls in a popover are outside of the page's element; they stay open if its button does.
    const held = openPopover()?.closest(left) ? null : popoverBody();
    for (const place of held ? [page, held] : [page])
      for (const control of place.querySelectorAll(shut)) control.inert = !control.closest(left);
  }
  close();
  if (!open.includes("clicks")) page.style.setProperty("--saved", "none"); // hides the hints to click in pictures
  if (open.includes("edits")) page.style.setProperty("--changes", "auto"); // lets the switches of heads be clicked
  const watch = new MutationObserver(close);
  watch.observe(document.body, { childList: true, subtree: true });
  return () => watch.disconnect();
}
