"""The code of all browser parts as one script, so that a page of many pictures gets it once."""

from __future__ import annotations

import hashlib
import json
from functools import cache

from viz.canvas import COMPONENTS, joined, libraries

PHONE = 768  # pixels up to which Streamlit lays the sidebar over the page

PASSING = 1000  # milliseconds in which a page that was passed by may still come

LIBRARY = """
export default function load() {
  if (window.__NAME__) return;
  __CODE__
  window.__NAME__ = (name, part) => {
    part.parentElement.adoptedStyleSheets = ["", name].map(sheetOf);
    return parts[name](part);
  };
  dispatchEvent(new Event("__NAME__"));
  addEventListener("input", mend, true);
  addEventListener("click", closeSidebar);
  const { pushState } = history;
  history.pushState = enter;
  let passed = -Infinity; // when the browser last went back or forward by itself
  addEventListener("popstate", () => (passed = performance.now()), true);
  for (const kind of ["pointerdown", "keydown"]) {
    addEventListener(kind, () => (passed = -Infinity), true);
  }

  // A page comes first without its choices in the address: no place of its own to go back to. And
  // pages that were only passed by, going back, come late: they would end the way forward.
  function enter(state, title, address) {
    const { pathname } = new URL(address ?? "#", location.href);
    const same = pathname === location.pathname;
    const late = performance.now() - passed < __PASSING__;
    if (late && !same) return;
    const replaces = same && (late || !location.search);
    (replaces ? history.replaceState : pushState).call(history, state, title, address);
  }

  // Half of a character in a box would make the server close the connection.
  function mend({ target }) {
    if (target.value?.isWellFormed?.() ?? true) return;
    const { set } = Object.getOwnPropertyDescriptor(target.constructor.prototype, "value");
    set.call(target, target.value.toWellFormed());
  }

  // Streamlit closes it for its own links alone, and on a phone it covers the page.
  function closeSidebar({ target }) {
    if (innerWidth > __PHONE__ || !target.closest("[data-testid=stSidebar] a")) return;
    document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click();
  }

  function sheetOf(name) {
    if (typeof styles[name] === "string") {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(styles[name]);
      styles[name] = sheet;
    }
    return styles[name];
  }
}
"""

# Draws at once where the library is there already, and else when it comes.
LOADER = """
export default function load(part) {
  if (window.__NAME__) return window.__NAME__("__PART__", part);
  let undo;
  const draw = () => (undo = window.__NAME__("__PART__", part));
  addEventListener("__NAME__", draw, { once: true });
  return () => {
    removeEventListener("__NAME__", draw);
    undo?.();
  };
}
"""


@cache
def library() -> str:
    """The script that brings the code and the styles of every part into a page."""
    script = LIBRARY.replace("__NAME__", global_name()).replace("__CODE__", code())
    return script.replace("__PHONE__", str(PHONE)).replace("__PASSING__", str(PASSING))


def loader(name: str) -> str:
    """The script of one part in a page that has the library."""
    return LOADER.replace("__NAME__", global_name()).replace("__PART__", name)


@cache
def global_name() -> str:
    """What a page calls the library: other code has another name, in a page that was left open."""
    return f"headlight_{hashlib.sha256(code().encode()).hexdigest()[:8]}"


@cache
def code() -> str:
    """`styles` and `parts` by the name of the part; what all share stands there once, without."""
    names = sorted(file.stem for file in COMPONENTS.glob("*.html"))
    own_styles = {name: joined(*libraries(name, ".css"), f"{name}.css") for name in names}
    styles = json.dumps({"": joined("picture.css"), **own_styles})
    parts = ",\n".join(
        f"{name}: (() => {{\n{own_script(name)}\nreturn draw;\n}})()" for name in names
    )
    return f"const styles = {styles};\n{joined('picture.js')}\nconst parts = {{\n{parts}\n}};"


def own_script(name: str) -> str:
    """The JavaScript of a part without what all parts share."""
    own = joined(*libraries(name, ".js"), f"{name}.js")
    return own.replace("export default ", "")
