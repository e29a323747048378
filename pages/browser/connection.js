// What a page does about a connection to the server that was lost, or a page that never came.

const STATE = "data-test-connection-state"; // where Streamlit writes how its connection is
const BLANK = 2000; // milliseconds for which a page without anything may still be coming
const AGAIN = 20_000; // milliseconds within which a page that was loaded again is not once more
const LOADED = "headlight-loaded-again"; // the name under which a tab keeps when that was
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

/** Load a page again that has become blank; if that does not help, say so beside a button. */
export function mendBlank() {
  let since = null; // when the page was first seen to be blank
  setInterval(() => {
    if (!isBlank()) since = null;
    else if (since === null) since = performance.now();
    else if (performance.now() - since > BLANK) load();
  }, BLANK / 4);
}

/** Whether nothing is drawn, nothing is under way, and the server could be asked. */
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
  const note = document.createElement("div");
  note.className = "headlight-blank";
  note.setAttribute("role", "alert");
  note.style.cssText = "position: fixed; inset: 30% 0 auto; text-align: center; font-family: sans-serif";
  const button = document.createElement("button");
  button.textContent = "Load it again";
  button.onclick = () => location.reload();
  note.append(NOTHING_CAME, " ", button);
  document.body.append(note);
}
