// Watches over every page in the browser, whatever pictures are on it.

import { DECK_KEYS, passKeysOn } from "../../viz/deck_keys.js";
import { closesSidebar, main, mostCharacters, pageLink, sidebarLink } from "../streamlit_fixes/dom.js";
import { keepSteps } from "../streamlit_fixes/history_steps.js";
import { followTranslation } from "./browser_translation.js";
import { mendBlank, tellOfLoss } from "./connection.js";
import { begun, isOnTheWay, watchBoxes } from "./link.js";
import { turnFullScreen } from "./turning.js";

const SIDEBAR_OVER = 768; // the widest window, in pixels, in which the sidebar covers the page

/** Watch the connection, the address, the boxes and the sidebar; called once for each page load. */
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
  let byTab = false; // true while the focus is moved by the Tab key
  addEventListener("keydown", ({ key }) => (byTab = key === "Tab"), true);
  addEventListener("pointerdown", () => (byTab = false), true);
  addEventListener("focusin", (event) => byTab && enterAtChosen(event));
  keepSteps(beginAtTop);
}

let path = location.pathname;

/** Scroll a new page to its top: a slow browser would keep the position of the page before. */
function beginAtTop() {
  if (location.pathname === path) return;
  path = location.pathname;
  main()?.scrollTo(0, 0);
}

/** Delay a click on a link until a typed text is sent: a text sent later would bring the old page back. */
function sendTextsFirst() {
  addEventListener(
    "click",
    async (event) => {
      const link = event.isTrusted && pageLink(event.target);
      const opensElsewhere = event.ctrlKey || event.metaKey || event.shiftKey;
      if (!link || opensElsewhere || !isOnTheWay()) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      await begun();
      link.click();
    },
    true,
  );
}

/** Switch to full screen in the click that starts a talk: browsers allow it only in a click. */
function present({ target }) {
  if (target.closest("[class*=st-key-present] button, [class*=-Present] button")) turnFullScreen();
}

/** Correct a text that was put into a box: cut it if it is too long, and replace lone surrogates.
 *
 * Streamlit drops a text that is too long, and lone surrogates make the server close the connection.
 */
function mend({ target }) {
  if (target.value?.isWellFormed === undefined) return;
  const mended = target.value.slice(0, mostCharacters(target)).toWellFormed();
  if (mended === target.value) return;
  const { set } = Object.getOwnPropertyDescriptor(target.constructor.prototype, "value");
  set.call(target, mended);
}

/** Move the focus to the chosen radio button of a row, not to the first one. */
function enterAtChosen({ target, relatedTarget }) {
  const row = target.closest("[role=radiogroup]");
  if (!row || row.contains(relatedTarget)) return;
  row.querySelector("[role=radio][aria-checked=true]")?.focus();
}

/** Close the sidebar after a click on a link: Streamlit does so only for its own links. */
function closeSidebar({ target }) {
  if (innerWidth <= SIDEBAR_OVER && sidebarLink(target)) closesSidebar()?.click();
}
