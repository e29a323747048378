// What every page needs in the browser, whatever pictures are on it.

import { DECK_KEYS, passKeysOn } from "../../viz/deck_keys.js";
import { closesSidebar, main, mostCharacters, pageLink, sidebarLink } from "../streamlit_fixes/dom.js";
import { keepSteps } from "../streamlit_fixes/history_steps.js";
import { followTranslation } from "./browser_translation.js";
import { mendBlank, tellOfLoss } from "./connection.js";
import { watchBoxes } from "./link.js";
import { turnFullScreen } from "./turning.js";

const SENT = 100; // milliseconds after which the text of a box that was left is sent
const SIDEBAR_OVER = 768; // pixels of width up to which Streamlit lays the sidebar over the page

/** Watch the address, the boxes and the sidebar; call it once for each page. */
export function tend() {
  mendBlank();
  tellOfLoss();
  followTranslation();
  if (new URLSearchParams(location.search).has("alone")) passKeysOn(DECK_KEYS);
  addEventListener("input", mend, true);
  watchBoxes();
  sendTextsFirst();
  addEventListener("click", closeSidebar);
  addEventListener("click", present);
  let byTab = false; // whether the focus moves by the Tab key
  addEventListener("keydown", ({ key }) => (byTab = key === "Tab"), true);
  addEventListener("pointerdown", () => (byTab = false), true);
  addEventListener("focusin", (event) => byTab && enterAtChosen(event));
  keepSteps(beginAtTop);
}

let path = location.pathname;

/** Show a page from its top: a slow browser would keep the scroll of the page before. */
function beginAtTop() {
  if (location.pathname === path) return;
  path = location.pathname;
  main()?.scrollTo(0, 0);
}

/** Follow a link only once a text typed before is sent: after it, the text would call the old page back. */
function sendTextsFirst() {
  let left = -Infinity; // when the visitor left a box
  addEventListener("focusout", ({ target }) => target.matches("input, textarea") && (left = performance.now()), true);
  addEventListener(
    "click",
    (event) => {
      const link = event.isTrusted && pageLink(event.target);
      const opensElsewhere = event.ctrlKey || event.metaKey || event.shiftKey;
      if (!link || opensElsewhere || performance.now() - left > SENT) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      setTimeout(() => link.click(), SENT);
    },
    true,
  );
}

/** Fill the screen for a talk in the click that begins it: browsers allow it only then. */
function present({ target }) {
  if (target.closest("[class*=st-key-present] button, [class*=-Present] button")) turnFullScreen();
}

/** Mend what was put into a box.
 *
 * Lone surrogates would make the server close the connection, and Streamlit drops a text that is too long.
 */
function mend({ target }) {
  if (target.value?.isWellFormed === undefined) return;
  const mended = target.value.slice(0, mostCharacters(target)).toWellFormed();
  if (mended === target.value) return;
  const { set } = Object.getOwnPropertyDescriptor(target.constructor.prototype, "value");
  set.call(target, mended);
}

/** Move the focus to the chosen one of a row of radio buttons, not to the first. */
function enterAtChosen({ target, relatedTarget }) {
  const row = target.closest("[role=radiogroup]");
  if (!row || row.contains(relatedTarget)) return;
  row.querySelector("[role=radio][aria-checked=true]")?.focus();
}

/** Close the sidebar after a click on a link: Streamlit does so only for its own links. */
function closeSidebar({ target }) {
  if (innerWidth <= SIDEBAR_OVER && sidebarLink(target)) closesSidebar()?.click();
}
