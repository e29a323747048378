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

/**
 * Close all controls of the page except some, now and whenever new ones appear.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { open, buttons } = begin(mount).header;
  const left = open.map((key) => `.st-key-${CSS.escape(key)}`).join(", ") || "#nothing";
  const main = document.querySelector("[data-testid=stMain]");
  function close() {
    for (const control of main.querySelectorAll(buttons ? CHOICES : `${CHOICES}, ${BUTTONS}`)) {
      const stays = control.closest(left) !== null;
      if (control.inert === stays) control.inert = !stays;
    }
  }
  close();
  if (!open.includes("clicks")) main.style.setProperty("--saved", "none"); // hides hints to click
  if (open.includes("edits")) main.style.setProperty("--changes", "auto"); // opens switches of heads
  const watch = new MutationObserver(close);
  watch.observe(main, { childList: true, subtree: true });
  return () => watch.disconnect();
}
