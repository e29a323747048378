// Tells the visitor if the connection to the server is lost, and reloads a page that stays blank.

import { buttonOf, element } from "../../viz/canvas.js";
import { isBlank, isConnected, openDialog, whenStateChanges } from "../streamlit_fixes/dom.js";

const BLANK = 2000; // milliseconds for which a blank page may still be loading
const AGAIN = 20_000; // the fewest milliseconds between two automatic reloads
const LOADED = "headlight-loaded-again"; // the key under which a tab keeps the time of a reload
const LOST = "The connection to the server is lost. Headlight goes on here once it is back.";
const NOTHING_CAME = "The page could not be loaded: the connection to the server was lost.";

/**
 * Call a function each time the connection is back, because messages sent before may be lost.
 * @param {() => void} back
 * @param {() => void} [gone] called each time the connection is lost
 * @returns {() => void} a function that stops the calls
 */
export function whenBack(back, gone = () => {}) {
  let lost = false;
  return whenStateChanges(() => {
    if (lost !== isConnected()) return;
    lost = !lost;
    if (lost) gone();
    else back();
  });
}

/** Show a small message if the connection is lost, and hide Streamlit's dialog, which covers the page. */
export function tellOfLoss() {
  const note = element("div", "headlight-lost", LOST, { role: "status" });
  // A dialog that opens while the connection is lost is Streamlit's own: it is closed.
  const dialogs = new MutationObserver(() => {
    const dialog = openDialog();
    if (!dialog) return;
    dialog.hidden = true;
    dialog.style.display = "none"; // so that the dialog does not show while it fades out
    dialog.querySelector("button[aria-label=Close]")?.click();
  });
  whenBack(
    () => {
      dialogs.disconnect();
      note.remove();
    },
    () => {
      document.body.append(note);
      dialogs.observe(document.body, { childList: true, subtree: true });
    },
  );
}

/** Reload a page that has become blank; if it is blank again, show a message with a button. */
export function mendBlank() {
  let since = null; // the time at which the page was first found to be blank
  setInterval(() => {
    if (!isBlank()) since = null;
    else if (since === null) since = performance.now();
    else if (performance.now() - since > BLANK) load();
  }, BLANK / 4);
}

function load() {
  const now = Date.now();
  if (now - Number(sessionStorage.getItem(LOADED)) > AGAIN) {
    sessionStorage.setItem(LOADED, String(now));
    location.reload();
    return;
  }
  if (document.querySelector(".headlight-blank")) return;
  const button = buttonOf("", "Load it again", () => location.reload());
  const note = element("div", "headlight-blank", [NOTHING_CAME, " ", button], {
    role: "alert",
    style: "position: fixed; inset: 30% 0 auto; text-align: center; font-family: sans-serif",
  });
  document.body.append(note);
}
