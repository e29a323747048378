// The keys that a deck of slides keeps, wherever the focus is: those that clickers send.

export const DECK_KEYS = ["PageDown", "PageUp", "b", "B", "."];

/**
 * Pass the deck's keys on from a frame with only a picture, and the focus with Escape.
 *
 * A deck of the same origin gets the key itself. Another one gets the key's command in the
 * form of reveal.js, which most decks that listen at all understand. It is written as one function,
 * because a page in a frame gets its text.
 */
export function passKeysOn(keys) {
  const methods = { PageDown: "next", PageUp: "prev", b: "togglePause", B: "togglePause", ".": "togglePause" };
  if (parent === window) return;
  function pressed(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.composedPath()[0].matches?.("textarea, input[type=text], input:not([type])")) return;
    if (event.key === "Escape") return leave();
    if (!keys.includes(event.key)) return;
    event.preventDefault();
    const { key, code, keyCode, shiftKey } = event;
    const same = { key, code, keyCode, which: keyCode, shiftKey, bubbles: true, cancelable: true };
    try {
      frameElement.dispatchEvent(new parent.KeyboardEvent("keydown", same));
    } catch {
      parent.postMessage(JSON.stringify({ method: methods[key] }), "*");
    }
  }
  function leave() {
    try {
      frameElement.blur();
    } catch {
      // the deck has another origin: only it can blur the frame
    }
    parent.focus();
  }
  addEventListener("keydown", pressed);
}
