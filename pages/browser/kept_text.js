import { begin } from "../../viz/canvas.js";
import { whenBack } from "./connection.js";

/**
 * @typedef {object} Header
 * @property {string} name
 * @property {string | null} text the text to keep; empty to forget it, null to ask for it
 */

/**
 * Keep a text in this tab, forget it, or send the kept text to the app. When a lost connection is
 * back, send null: then the page is drawn again, with everything that was entered meanwhile.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  const { name, text } = header;
  if (text === "") sessionStorage.removeItem(name);
  else if (text !== null) sessionStorage.setItem(name, text);
  else if (sessionStorage.getItem(name)) answer(sessionStorage.getItem(name));
  root.stop?.();
  root.stop = whenBack(() => answer(null));
  return root.stop;
}
