// The keys that always belong to a deck of slides, even while a picture has the focus: clickers send them.

export const DECK_KEYS = ["PageDown", "PageUp", "b", "B", "."];

/**
 * In a frame with only a picture, pass the deck's keys on to the deck; Escape returns the focus.
 *
 * A deck of the same origin gets the key event. A deck of another origin gets the key's command as
 * a message of reveal.js, which most decks that take messages understand. All is one function,
 * because its source text is written into the page in the frame.
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
      // If the deck is of another origin, a script in the frame may not blur the frame.
    }
    parent.focus();
  }
  addEventListener("keydown", pressed);
}
