"""The code of all browser parts as one script, which a page of many pictures fetches once."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import viz
from viz import CanvasPicture
from viz.modules import in_order, read, script, stylesheet

HERE = Path(__file__).parent
VIZ = Path(viz.__file__).parent
BRING = HERE / "bring.js"
THEME = HERE / "theme.css"

PREFIX = "headlight_"  # of what Streamlit calls the parts
LIBRARY = """
(() => {
  __CODE__
  $bring.bring("__NAME__", parts, styles);
})();
"""

# A part is drawn when the library has come, which may take more than one try.
BRINGER = """
export default function load() {
  if (window.__NAME__ || document.querySelector("script[src='__ADDRESS__']")) return;
  const script = document.createElement("script");
  script.src = "__ADDRESS__";
  script.onerror = () => {
    script.remove();
    setTimeout(load, 1000);
  };
  document.head.append(script);
}
"""

# Draws at once if the library is there already, and else when it comes. It is the same for all
# parts, so that the browser has it once.
LOADER = """
export default function load(part) {
  const name = part.name.replace("__PREFIX__", "");
  if (window.__NAME__) return window.__NAME__(name, part);
  let undo;
  const draw = () => (undo = window.__NAME__(name, part));
  addEventListener("__NAME__", draw, { once: true });
  return () => {
    removeEventListener("__NAME__", draw);
    undo?.();
  };
}
"""


def mounted(picture: CanvasPicture, menu: CanvasPicture | None = None) -> bytes:
    """Return what the library draws: a picture, the menu that saves it, and the menu's length."""
    data = menu.data if menu else b""
    return picture.data + data + struct.pack("<I", len(data))


@cache
def library() -> str:
    """Return the script that brings the code and the styles of every part into a page."""
    return LIBRARY.replace("__NAME__", global_name()).replace("__CODE__", code())


def bringer(address: str) -> str:
    """Return the script that has a page fetch the library from an address, once."""
    return BRINGER.replace("__NAME__", global_name()).replace("__ADDRESS__", address)


@cache
def loader() -> str:
    """Return the script of every part in a page that has the library."""
    return LOADER.replace("__NAME__", global_name()).replace("__PREFIX__", PREFIX)


def component_name(part: str) -> str:
    """Return what Streamlit calls a part."""
    return PREFIX + part


@cache
def global_name() -> str:
    """Return what a page calls the library; other code has another name, in a page left open."""
    return f"headlight_{hashlib.sha256(code().encode()).hexdigest()[:8]}"


@cache
def code() -> str:
    """Return all files once, in order, and `styles` and `parts` by the name of the part."""
    return code_of(BRING, parts(), ("canvas", "theme", "save_menu"))


def code_of(first: Path, drawing: Sequence[Path], sheets: Sequence[str]) -> str:
    """Return the same for some parts, which all have these stylesheets, and a first file."""
    modules = in_order([first, *drawing])
    found = {module.path.stem: stylesheet([module]) for module in modules}
    found["theme"] = THEME.read_text(encoding="utf-8")
    of_parts = {}
    for part in drawing:
        # The stylesheets of all parts, and of what this one imports.
        names = [*sheets, *(module.path.stem for module in in_order([part]))]
        of_parts[part.stem] = [name for name in dict.fromkeys(names) if found[name]]
    used = {name: found[name] for names in of_parts.values() for name in names}
    lines = [f"const styles = {json.dumps(used)};", script(modules), "const parts = {"]
    for part in drawing:
        found = {"sheets": of_parts[part.stem], "isOfAModel": is_of_a_model(part)}
        lines.append(f"{part.stem}: {{ draw: ${part.stem}.draw, ...{json.dumps(found)} }},")
    return "\n".join([*lines, "};"])


def is_of_a_model(script: Path) -> bool:
    """Return whether a script draws a picture of a model, and no other part of a page."""
    return VIZ in script.parents


@cache
def parts() -> list[Path]:
    """Return the scripts that draw: pictures, and what else is on a page."""
    files = sorted([*VIZ.glob("*/*.js"), *HERE.glob("*.js")], key=lambda file: file.stem)
    return [file for file in files if "draw" in read(file).exports]
