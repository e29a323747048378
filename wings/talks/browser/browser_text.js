import { begin } from "../../../viz/canvas.js";
import { isUnseen } from "../../../pages/browser/thumbnail_frame.js";

/**
 * @typedef {object} Header
 * @property {string} name
 * @property {string | null} text the session's text; empty for none, null if the session has not set it
 * @property {string} session
 * @property {boolean} heard true if the session has received the text that the browser had kept before the session began
 */

const passed = {}; // for each name of a text: the session, the last text from it, and the last text sent to it

/**
 * Keep a session's text in this browser. Send the session a kept text that it does not have, from
 * before the session began or from another tab.
 * @param {import("../../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  const { name, text, session, heard } = header;
  root.forget?.();
  if (passed[name]?.session !== session) passed[name] = { session, given: null, told: null };
  const known = passed[name];

  const isKnown = (kept) => kept === null || kept === (known.given ?? "");
  function tell() {
    const kept = read(name);
    if (known.failed || isKnown(kept) || kept === known.told) return;
    known.told = kept;
    answer({ text: kept, first: known.given === null });
  }

  if (text !== null && text !== known.given) {
    const isEcho = text === known.told;
    known.told = null;
    if (isEcho || heard || isKnown(read(name))) {
      known.given = text;
      known.failed = !isEcho && !write(name, text);
      if (known.failed) answer({ failed: true });
    }
  }
  tell();
  const changed = ({ key }) => {
    if (key === name || key === null) tell();
  };
  addEventListener("storage", changed);
  window.onpagehide = () => keepTyping(name);
  root.forget = () => removeEventListener("storage", changed);
  return root.forget;
}

/** When the page closes, write the text that is being typed in a slide's box into the kept talk: a closing page can no longer send it. */
function keepTyping(name) {
  const box = document.activeElement?.closest("[class*=st-key-slide-]");
  const [, place, part] = /st-key-slide-(\d+)-(title|words|notes|question)/.exec(box?.className ?? "") ?? [];
  const talk = part && JSON.parse(read(name) || "{}");
  if (!talk?.slides?.[place]) return;
  talk.slides[place][part] = document.activeElement["value"];
  write(name, JSON.stringify(talk));
}

/** Return the kept text, empty for none; null if the browser does not allow reading. */
function read(name) {
  try {
    return localStorage.getItem(name) ?? "";
  } catch {
    return null;
  }
}

/** Keep a text; return whether the browser has kept it. */
function write(name, text) {
  if (isUnseen()) return true;
  try {
    if (text) localStorage.setItem(name, text);
    else localStorage.removeItem(name);
    return true;
  } catch {
    return false;
  }
}
