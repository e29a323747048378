import { element, sheetsOf } from "../../../viz/canvas.js";

/**
 * @typedef {object} PartOfFile
 * @property {(part: any) => (() => void) | void} draw
 * @property {string[]} sheets
 */

/**
 * Return the function that draws a picture in an element of a page without a server.
 * @param {Record<string, PartOfFile>} parts
 * @param {Record<string, string>} styles
 * @param {Record<string, string>} labels the labels of parts, for screen readers
 */
export function mounting(parts, styles, labels) {
  const sheetOf = sheetsOf(styles);

  /**
   * @param {HTMLElement} host
   * @param {string} name the name of the part
   * @param {Uint8Array} bytes
   * @param {(value: any, bytes: Uint8Array) => void} answer
   */
  return (host, name, bytes, answer = () => {}) => {
    const part = parts[name];
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const label = labels[name] && { role: "group", "aria-label": labels[name] };
    if (!root.firstChild) {
      root.adoptedStyleSheets = part.sheets.map(sheetOf);
      root.append(element("div", `picture ${name.replaceAll("_", "-")}`, "", { translate: "no", ...label }));
    }
    part.draw({
      data: bytes,
      parentElement: root,
      setStateValue: (_, value) => answer(value, bytes),
      setTriggerValue: (_, value) => answer(value.answers.at(-1)[1], bytes),
    });
  };
}
