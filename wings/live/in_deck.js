import { buttonOf, element } from "../../viz/canvas.js";
import { showTalk } from "../../pages/browser/deck/deck.js";
import { live } from "./page.js";

/**
 * Show a talk whose file also holds the model.
 * @param {Record<string, import("../../pages/browser/deck/mounting.js").PartOfFile>} parts
 * @param {Record<string, string>} styles
 */
export function show(parts, styles) {
  const app = element("div", "live");
  const close = buttonOf("control close", "×", () => dialog.close(), { "aria-label": "Close" });
  const dialog = element("dialog", "live-dialog live", [close, app], { "aria-label": "The model, on any sentence" });
  let panel = null; // the panel, made when it is first opened, because the model takes a second to load
  /** Open the model on the sentence, the head and the changes of a slide. */
  function ask(scene) {
    const address = `#${new URLSearchParams(scene)}`;
    if (!dialog.isConnected) document.body.append(dialog);
    dialog.showModal();
    if (panel) panel.go(address);
    else panel = live(app, parts, styles, address, () => {});
    /** @type {HTMLElement | null} */ (app.querySelector(".sentence"))?.focus(); // so that typed letters go into the box and do not turn slides
  }
  showTalk(parts, styles, ask);
}
