import { begin, buttonOf, element } from "../../viz/canvas.js";
import { copied, sceneLink, settled } from "./link.js";

/**
 * @typedef {object} Header
 */

const LABEL = "Copy link";
const SHOWN = 2000; // milliseconds for which "Copied" is shown

/**
 * Draw a button that copies the page's link, or shows the link if the browser does not let it copy.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { root } = begin(mount);
  if (root.firstChild) return; // so that "Copied" stays if the page is drawn again
  const button = buttonOf("", LABEL, copy, { "aria-live": "polite" });
  root.replaceChildren(button);
  async function copy() {
    await settled();
    const link = sceneLink(root);
    root.replaceChildren(button);
    if (await copied(link)) {
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = LABEL), SHOWN);
      return;
    }
    const box = element("input", "", "", { readonly: "", "aria-label": "The link" });
    box.value = link;
    root.append(box, element("p", "", "Press Ctrl or ⌘ and C to copy it."));
    box.focus();
    box.select();
  }
}
