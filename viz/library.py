"""The code of all browser parts as one script, so that a page of many pictures gets it once."""

from __future__ import annotations

import hashlib
import json
from functools import cache

from viz.canvas import COMPONENTS, joined, libraries

LIBRARY = """
export default function load() {
  if (window.__NAME__) return;
  __CODE__
  window.__NAME__ = (name, part) => {
    part.parentElement.adoptedStyleSheets = ["", name].map(sheetOf);
    return parts[name](part);
  };
  dispatchEvent(new Event("__NAME__"));
  tend();

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
    return LIBRARY.replace("__NAME__", global_name()).replace("__CODE__", code())


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
    shared = joined("picture.js", "page.js")
    return f"const styles = {styles};\n{shared}\nconst parts = {{\n{parts}\n}};"


def own_script(name: str) -> str:
    """The JavaScript of a part without what all parts share."""
    own = joined(*libraries(name, ".js"), f"{name}.js")
    return own.replace("export default ", "")
