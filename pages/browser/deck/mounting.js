import { element, sheetsOf } from "../../../viz/canvas.js";

/**
 * @typedef {object} PartOfFile
 * @property {(part: any) => (() => void) | void} draw
 * @property {string[]} sheets
 */

/**
 * The function that draws a picture in an element of a page without a server.
 * @param {Record<string, PartOfFile>} parts
 * @param {Record<string, string>} styles
 * @param {Record<string, string>} labels of parts, for those who cannot see them
 */
export function mounting(parts, styles, labels) {
  const sheetOf = sheetsOf(styles);

  /**
   * @param {HTMLElement} host
   * @param {string} name of the part
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
