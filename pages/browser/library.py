"""Joins the code of all browser parts into one script, which a page loads once for all pictures.

Saved talks and other pages without a server use the functions from `code_of` on, too.
"""

import base64
import hashlib
import json
import struct
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from headlight import viz
from headlight.viz import CanvasPicture
from headlight.viz.modules import exports, in_order, script, stylesheet

HERE = Path(__file__).parent
VIZ = Path(viz.__file__).parent
DRAWING = ("viz/*", "pages/parts/*", "pages/browser", "wings/*/page", "wings/*/browser")
BRING = HERE / "bring.js"
THEME = HERE / "theme.css"

PREFIX = "headlight_"  # the names of the parts in Streamlit begin with this
LIBRARY = """
(() => {
  __CODE__
  $bring.bring("__NAME__", parts, styles);
})();
"""

# This script fetches the library of all parts, and tries again if that fails.
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

# This script draws a part at once if the library is there, otherwise when it has loaded. It is the
# same for all parts, so that the browser gets it only once.
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
    """Return the bytes that the library draws: a picture, its menu, the menu's length as uint32."""
    data = menu.data if menu else b""
    return picture.data + data + struct.pack("<I", len(data))


@cache
def library() -> str:
    """Return the script that defines the code and the styles of every part on a page."""
    return LIBRARY.replace("__NAME__", global_name()).replace("__CODE__", code())


def bringer(address: str) -> str:
    """Return the script that fetches the library from an address, unless the page has it."""
    return BRINGER.replace("__NAME__", global_name()).replace("__ADDRESS__", address)


@cache
def loader() -> str:
    """Return the script that is the same for all parts: it calls the library to draw a part."""
    return LOADER.replace("__NAME__", global_name()).replace("__PREFIX__", PREFIX)


def component_name(part: str) -> str:
    return PREFIX + part


@cache
def global_name() -> str:
    """Return the name under which a page's `window` holds the library.

    The name has a hash of the code, so that a page opened before an update fetches the new code.
    """
    return f"headlight_{hashlib.sha256(code().encode()).hexdigest()[:8]}"


@cache
def code() -> str:
    """Return JavaScript with each file once, and all `parts` and stylesheets (`styles`) by name."""
    return code_of(BRING, parts(), ("canvas", "theme", "save_menu"))


def code_of(first: Path, drawing: Sequence[Path], sheets: Sequence[str]) -> str:
    """Return the code of the parts in `drawing`, after the file `first` and its imports.

    `sheets` are the names of the stylesheets that every part gets.
    """
    files = in_order([first, *drawing])
    styles = {file.stem: stylesheet([file]) for file in files}
    styles["theme"] = THEME.read_text(encoding="utf-8")
    of_parts = {}
    for part in drawing:
        # The stylesheets that every part gets, and those of the files that this part imports.
        names = [*sheets, *(file.stem for file in in_order([part]))]
        of_parts[part.stem] = [name for name in dict.fromkeys(names) if styles[name]]
    used = {name: styles[name] for names in of_parts.values() for name in names}
    lines = [f"const styles = {json.dumps(used)};", script(files), "const parts = {"]
    for part in drawing:
        facts = {"sheets": of_parts[part.stem], "isOfAModel": is_of_a_model(part)}
        lines.append(f"{part.stem}: {{ draw: ${part.stem}.draw, ...{json.dumps(facts)} }},")
    return "\n".join([*lines, "};"])


def is_of_a_model(script: Path) -> bool:
    """Return whether a script draws a picture of a model, not some other part of a page."""
    return script.parent.name != HERE.name


@cache
def parts() -> list[Path]:
    """Return the scripts with a function `draw`: pictures and other parts of pages."""
    files = (file for where in DRAWING for file in VIZ.parent.glob(f"{where}/*.js"))
    return [file for file in sorted(files, key=lambda file: file.stem) if "draw" in exports(file)]


def digest_of(text: str) -> str:
    """Return the hash by which a content security policy allows an inline script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def as_json(content: object) -> str:
    return safe(json.dumps(content, ensure_ascii=False, allow_nan=False))


def safe(text: str) -> str:
    """Return JSON text with < escaped, for a <script> element; < occurs only within its strings."""
    return text.replace("<", "\\u003c")
