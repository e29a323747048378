import { element } from "../../viz/canvas.js";
import { download } from "../../pages/browser/dots.js";
import { filmRow } from "../../pages/browser/film.js";

/**
 * Above the only picture of a page, add the buttons that record it as a film.
 * @param {{ name: string, what: string, caption: string }} header
 */
export function add(header) {
  const picture = () => document.querySelector(".picture");
  const row = filmRow({ picture, header, ask: null, download });
  document.querySelector("#picture").before(element("div", "film-buttons", [row.element]));
  row.update();
}
