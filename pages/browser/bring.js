import { mount } from "./mount.js";
import { tend } from "./page.js";

/** Bring all parts into a page, which draws them by calling `window[name]`.
 * @param {string} name
 * @param {Record<string, { draw: (part: any) => (() => void) | void, sheets: string[], isOfAModel: boolean }>} parts
 * @param {Record<string, string>} styles
 */
export function bring(name, parts, styles) {
  /** @type {Record<string, CSSStyleSheet>} */
  const made = {};
  const sheetOf = (style) => {
    if (!made[style]) {
      made[style] = new CSSStyleSheet();
      made[style].replaceSync(styles[style]);
    }
    return made[style];
  };
  window[name] = (key, part) => {
    part.parentElement.adoptedStyleSheets = parts[key].sheets.map(sheetOf);
    return mount(parts[key].draw, part, parts[key].isOfAModel);
  };
  dispatchEvent(new Event(name));
  tend();
}
