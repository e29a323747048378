// What a page does if the connection to the server was lost, or the page never loaded.

import { buttonOf, element } from "../../viz/canvas.js";

const STATE = "data-test-connection-state"; // where Streamlit writes the state of its connection
const BLANK = 2000; // milliseconds for which an empty page may still be loading
const AGAIN = 20_000; // milliseconds within which a page is not reloaded twice
const LOADED = "headlight-loaded-again"; // the name under which a tab keeps the time of that
const NOTHING_CAME = "The page did not come: the connection to the server was lost.";

/**
 * Call a function each time the connection comes back: what was sent just before may be lost.
 * @param {() => void} back
 * @returns {() => void} stops it
 */
export function whenBack(back) {
  let lost = false;
  const watch = new MutationObserver(() => {
    const state = document.querySelector(`[${STATE}]`)?.getAttribute(STATE);
    if (state !== "CONNECTED") lost = true;
    else if (lost) {
      lost = false;
      back();
    }
  });
  watch.observe(document.body, { subtree: true, attributeFilter: [STATE] });
  return () => watch.disconnect();
}

/** Reload a page that has become blank; if that does not help, say so next to a button. */
export function mendBlank() {
  let since = null; // when the page was first seen to be blank
  setInterval(() => {
    if (!isBlank()) since = null;
    else if (since === null) since = performance.now();
    else if (performance.now() - since > BLANK) load();
  }, BLANK / 4);
}

/** Whether nothing is drawn, nothing is loading, and the server can be reached. */
function isBlank() {
  const app = document.querySelector(`[${STATE}]`);
  if (!app) return true; // an error took all of it away
  const idle = app.getAttribute("data-test-script-state") === "notRunning";
  const connected = app.getAttribute(STATE) === "CONNECTED";
  return idle && connected && !app.querySelector("[data-testid=stMain] [data-testid=stElementContainer]");
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
