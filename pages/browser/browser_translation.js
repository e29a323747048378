// A browser's translator replaces the text nodes of a page by its own nodes. React still holds the
// old nodes: a text that it writes into an old node is not shown, and removing one raises an error.

import { NAMES_AND_NUMBERS } from "../streamlit_fixes/dom.js";

const SENTENCES = "p, li, td, th, h1, h2, h3";
const SAYS_THEM = /\d\.\d|[%“]/; // matches a text with a computed number or a quoted token

/** Show the app's changes in a translated page, too, and keep tokens and numbers untranslated. */
export function followTranslation() {
  const standing = new WeakMap(); // for each node that was replaced: the node in its place
  const isOfTranslator = (node) => node.localName === "font";
  const isHeld = (node) => node.nodeType === Node.TEXT_NODE || isOfTranslator(node);

  /** Put a text node back in place of the node that has replaced it. */
  function putBack(text) {
    let other = standing.get(text);
    while (other && !other.isConnected) other = standing.get(other);
    other?.replaceWith(text);
  }
  const watch = new MutationObserver((records) => {
    for (const record of records) {
      if (record.type === "characterData" && !record.target.isConnected) putBack(record.target);
      for (const node of [...record.removedNodes].filter(isHeld)) {
        const put = records.find((other) => isInPlace(other, record, node));
        if (!put) continue;
        standing.set(node, put.addedNodes[0]);
        watch.observe(node, { characterData: true });
      }
      if (!isOfTranslator(record.target)) record.addedNodes.forEach((node) => standing.delete(node));
    }
    keepWords();
  });
  watch.observe(document, { childList: true, characterData: true, subtree: true });
  keepWords();
  for (const name of ["appendChild", "insertBefore", "removeChild"]) {
    const native = Node.prototype[name];
    Node.prototype[name] = function (...nodes) {
      nodes.forEach(putBack);
      return native.apply(this, nodes);
    };
  }
}

/** Return whether a change adds a node at the place where `record` removes `node`. */
function isInPlace(change, record, node) {
  if (change.target !== record.target || !change.addedNodes.length) return false;
  const { previousSibling, nextSibling } = change;
  if (previousSibling === node || nextSibling === node) return true;
  return previousSibling === record.previousSibling && nextSibling === record.nextSibling;
}

/** Mark the parts of the page that translators must leave as they are. */
function keepWords() {
  for (const part of document.querySelectorAll(`:is(${NAMES_AND_NUMBERS}, ${SENTENCES}):not([translate=no])`)) {
    if (part.matches(NAMES_AND_NUMBERS) || SAYS_THEM.test(part.textContent)) part.setAttribute("translate", "no");
  }
}
