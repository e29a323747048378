// A browser's translator puts nodes of its own in place of the text of a page. React still holds the
// text: what it writes into it would not be seen, and what it removes would be an error.

import { NAMES_AND_NUMBERS } from "../streamlit_fixes/dom.js";

const SENTENCES = "p, li, td, th, h1, h2, h3";
const SAYS_THEM = /\d\.\d|[%“]/; // a number that was computed, or a quoted token

/** Renew whatever the app changes in a translated page, and keep tokens and numbers as they are. */
export function followTranslation() {
  const standing = new WeakMap(); // by a node that is gone from its place: the one put there
  const isOfTranslator = (node) => node.localName === "font";
  const isHeld = (node) => node.nodeType === Node.TEXT_NODE || isOfTranslator(node);

  /** Put a text back where another node stands for it. */
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

/** Whether a change adds a node where `record` removes one. */
function isInPlace(change, record, node) {
  if (change.target !== record.target || !change.addedNodes.length) return false;
  const { previousSibling, nextSibling } = change;
  if (previousSibling === node || nextSibling === node) return true;
  return previousSibling === record.previousSibling && nextSibling === record.nextSibling;
}

/** Tell translators which parts of the page to leave. */
function keepWords() {
  for (const part of document.querySelectorAll(`:is(${NAMES_AND_NUMBERS}, ${SENTENCES}):not([translate=no])`)) {
    if (part.matches(NAMES_AND_NUMBERS) || SAYS_THEM.test(part.textContent)) part.setAttribute("translate", "no");
  }
}
