"""The code of all browser parts as one script, so that a page of many pictures gets it once."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import viz
from viz import CanvasPicture
from viz.modules import in_order, read, script, stylesheet

HERE = Path(__file__).parent
VIZ = Path(viz.__file__).parent
MOUNT, PAGE = HERE / "mount.js", HERE / "page.js"

LIBRARY = """
export default function load() {
  if (window.__NAME__) return;
  __CODE__
  window.__NAME__ = (name, part) => {
    part.parentElement.adoptedStyleSheets = parts[name].sheets.map(sheetOf);
    return $mount.mount(parts[name].draw, part);
  };
  dispatchEvent(new Event("__NAME__"));
  $page.tend();

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

# Draws at once if the library is there already, and else when it comes.
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


def mounted(picture: CanvasPicture, menu: CanvasPicture | None = None) -> bytes:
    """What the library draws: a picture, the menu that saves it, and how long the menu is."""
    data = menu.data if menu else b""
    return picture.data + data + struct.pack("<I", len(data))


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
    """All files once, in their order, and `styles` and `parts` by the name of the part."""
    modules = in_order([PAGE, MOUNT, *parts()])
    styles = {module.path.stem: stylesheet([module]) for module in modules}
    styles["theme"] = (HERE / "theme.css").read_text(encoding="utf-8")
    styles = {name: style for name, style in styles.items() if style}
    drawn = ",\n".join(
        f"{part.stem}: {{ draw: ${part.stem}.draw, sheets: {json.dumps(sheets_of(part, styles))} }}"
        for part in parts()
    )
    return (
        f"const styles = {json.dumps(styles)};\n{script(modules)}\nconst parts = {{\n{drawn}\n}};"
    )


def sheets_of(part: Path, styles: Mapping[str, str]) -> list[str]:
    """The stylesheets of a part: of all parts, of what it imports, and of the menu beside it."""
    names = ["canvas", "theme", "save_menu", *(module.path.stem for module in in_order([part]))]
    return [name for name in dict.fromkeys(names) if name in styles]


@cache
def parts() -> list[Path]:
    """The scripts that draw: of the pictures, and of what else is on a page."""
    files = sorted([*VIZ.glob("*/*.js"), *HERE.glob("*.js")], key=lambda file: file.stem)
    return [file for file in files if "draw" in read(file).exports]
