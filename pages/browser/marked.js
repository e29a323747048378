import { element } from "../../viz/canvas.js";

const MARKS = /\*\*(?=\S)([^\n]*?\S)\*\*|\*(?=[^\s*])([^\n*]*?[^\s*])\*/;

/**
 * A text as nodes: **bold** and *italic* are all that is read as marks.
 * @param {string} text
 * @returns {Node[]}
 */
export function marked(text) {
  const found = MARKS.exec(text);
  if (!found) return text ? [document.createTextNode(text)] : [];
  const [whole, bold, italic] = found;
  const node = element(bold === undefined ? "em" : "strong");
  node.append(...marked(bold ?? italic));
  const after = text.slice(found.index + whole.length);
  return [...marked(text.slice(0, found.index)), node, ...marked(after)];
}
