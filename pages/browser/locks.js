import { begin } from "../../viz/canvas.js";

/**
 * @typedef {object} Header
 * @property {string[]} open the keys of the controls that stay open
 * @property {boolean} buttons whether buttons stay open
 */

const BUTTONS = ".stButton, .stDownloadButton, .stMenuButton, .stLinkButton, .stFileUploader";
const CHOICES =
  ".stTextInput, .stTextArea, .stNumberInput, .stSelectbox, .stMultiSelect, .stSlider, .stCheckbox, " +
  ".stRadio, .stButtonGroup, .stPills, .stSegmentedControl, .stDateInput, .stSelectSlider";
const OPENED = "[data-testid=stPopoverButton][aria-expanded=true]";
const HELD = "[data-testid=stPopoverBody]";

/**
 * Close all controls of the page except some, now and whenever new ones appear.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { open, buttons } = begin(mount).header;
  const left = open.map((key) => `.st-key-${CSS.escape(key)}`).join(", ") || "#nothing";
  const main = document.querySelector("[data-testid=stMain]");
  function close() {
    const shut = buttons ? CHOICES : `${CHOICES}, ${BUTTONS}`;
    // What a popover holds is outside of the page, and as open as its button.
    const held = document.querySelector(OPENED)?.closest(left) ? null : document.querySelector(HELD);
    for (const place of held ? [main, held] : [main])
      for (const control of place.querySelectorAll(shut)) control.inert = !control.closest(left);
  }
  close();
  if (!open.includes("clicks")) main.style.setProperty("--saved", "none"); // hides hints to click
  if (open.includes("edits")) main.style.setProperty("--changes", "auto"); // opens switches of heads
  const watch = new MutationObserver(close);
  watch.observe(document.body, { childList: true, subtree: true });
  return () => watch.disconnect();
}
