import { begin } from "../../viz/canvas.js";

/**
 * @typedef {object} Header
 * @property {string} name
 * @property {string | null} text empty to forget it, null to ask for it
 */

/**
 * Keep a text in this tab, forget it, or answer with the one that is kept.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, answer } = begin(mount);
  const { name, text } = header;
  if (text === "") sessionStorage.removeItem(name);
  else if (text !== null) sessionStorage.setItem(name, text);
  else if (sessionStorage.getItem(name)) answer(sessionStorage.getItem(name));
}
