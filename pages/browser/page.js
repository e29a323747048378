// What keeps a page in order, whatever pictures are on it.

import { DECK_KEYS, passKeysOn } from "../../viz/deck_keys.js";
import { mendBlank } from "./connection.js";
import { turnFullScreen } from "./slide.js";

const PHONE = 768; // pixels up to which Streamlit lays the sidebar over the page
const PASSING = 1000; // milliseconds in which a page that was passed by may still come

/** Watch over the page's address, boxes and sidebar; once a page. */
export function tend() {
  mendBlank();
  if (new URLSearchParams(location.search).has("alone")) passKeysOn(DECK_KEYS);
  addEventListener("input", mend, true);
  addEventListener("click", closeSidebar);
  addEventListener("click", present);
  let byTab = false; // whether the focus moves by the Tab key
  addEventListener("keydown", ({ key }) => (byTab = key === "Tab"), true);
  addEventListener("pointerdown", () => (byTab = false), true);
  addEventListener("focusin", (event) => byTab && enterAtChosen(event));
  let passed = -Infinity; // when the browser last went back or forward by itself
  addEventListener("popstate", () => (passed = performance.now()), true);
  for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, () => (passed = -Infinity), true);

  // A page comes first without its choices in the address: no place of its own to go back to. And
  // pages that were only passed by, going back, come late: they would end the way forward.
  const { pushState } = history;
  history.pushState = (state, title, address) => {
    const { pathname } = new URL(address ?? "#", location.href);
    const same = pathname === location.pathname;
    const late = performance.now() - passed < PASSING;
    if (late && !same) return;
    const replaces = same && (late || !location.search);
    (replaces ? history.replaceState : pushState).call(history, state, title, address);
  };
}

/** A talk fills the screen, if the click that begins it asks for that: nothing later may. */
function present({ target }) {
  if (target.closest("[class*=st-key-present] button, [class*=-Present] button")) turnFullScreen();
}

/** Half of a character in a box would make the server close the connection. */
function mend({ target }) {
  if (target.value?.isWellFormed?.() ?? true) return;
  const { set } = Object.getOwnPropertyDescriptor(target.constructor.prototype, "value");
  set.call(target, target.value.toWellFormed());
}

/** Enter a row of radio buttons at the chosen one, and not at its first. */
function enterAtChosen({ target, relatedTarget }) {
  const row = target.closest("[role=radiogroup]");
  if (!row || row.contains(relatedTarget)) return;
  row.querySelector("[role=radio][aria-checked=true]")?.focus();
}

/** Streamlit closes it for its own links alone, and on a phone it covers the page. */
function closeSidebar({ target }) {
  if (innerWidth > PHONE || !target.closest("[data-testid=stSidebar] a")) return;
  /** @type {HTMLElement | null} */
  const button = document.querySelector("[data-testid=stSidebarCollapseButton] button");
  button?.click();
}
