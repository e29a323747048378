"""The parts of a page that are drawn in the browser but are no pictures, such as menus."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import segno

from headlight.pages.browser.keys import KEYS, NAMES
from headlight.viz.canvas import CanvasPicture, Part

Format = Literal["png", "svg", "pdf", "html", "csv", "npz", "json", "gif"]
Copy = Literal["frame", "component", "address"]  # ways to copy a picture to slides made elsewhere


def packed(
    name: str,
    header: Mapping[str, Any],
    *array: np.ndarray,
    height: int,
    folder: Path = Path(__file__).parent,
) -> CanvasPicture:
    """Return the part that NAME.js in a folder draws; see `CanvasPicture.pack`."""
    return CanvasPicture.pack(Part(folder / f"{name}.js"), header, *array, height=height)


def keyboard() -> CanvasPicture:
    """Return a button that lists the keyboard shortcuts, and makes them work outside text boxes."""
    keys = [{**vars(key), "name": NAMES.get(key.key, key.key)} for key in KEYS]
    return packed("keyboard", {"keys": keys}, height=40)


def copy_link() -> CanvasPicture:
    """Return a button that copies the page's address, with its theme if it is not the system's."""
    return packed("copy_link", {}, height=48)


def contents(entries: Mapping[str, str]) -> CanvasPicture:
    """Return a table of contents for a long page; `entries` are CSS selectors by name."""
    listed = [{"name": name, "of": of} for name, of in entries.items()]
    return packed("contents", {"entries": listed}, height=40)


def qr_modules(address: str) -> np.ndarray:
    """Return the modules (squares) of an address's QR code: (side, side), 1 if dark, 0 if light.

    Raises ValueError if the address is too long.
    """
    try:
        code = segno.make(address, micro=False, error="m", boost_error=False)
    except segno.DataOverflowError as error:
        raise ValueError("This address is too long for a QR code: shorten the text.") from error
    return np.array([list(row) for row in code.matrix], np.uint8)


def qr_code(address: str) -> CanvasPicture:
    """Return a QR code of an address with its text; raises ValueError if it is too long."""
    modules = qr_modules(address)
    header = {"address": address, "side": len(modules)}
    return packed("qr_code", header, modules, height=480)


def reveal(of: str, number: int) -> CanvasPicture:
    """Return a part that scrolls to the element `of` (a CSS selector) once for each `number`."""
    return packed("reveal", {"of": of, "number": number}, height=0)


def press(of: str, once: str) -> CanvasPicture:
    """Return a part that clicks the element `of` (a CSS selector) once for each text `once`."""
    return packed("press", {"of": of, "once": once}, height=0)


def kept_text(name: str, text: str | None) -> CanvasPicture:
    """Return a part that keeps a text in the browser's tab across reloads; "" removes the text.

    With None, the part returns the kept text, if there is one. After a lost connection it returns
    None, because the latest input may be lost, too.
    """
    return packed("kept_text", {"name": name, "text": text}, height=0)


def save_menu(
    name: str,
    caption: str,
    what: str,
    formats: Sequence[Format],
    *,
    made_here: Sequence[Format] = ("png", "svg", "pdf"),
    copies: Sequence[Copy] = (),
    key: str = "",
    file: tuple[Format | Copy, bytes, int] | None = None,
    of: str | None = None,
) -> CanvasPicture:
    """Return a button that saves a picture, or the chart that the CSS selector `of` matches.

    `name` is the file name without ending, `caption` is written below the picture, and `what` names
    the picture for screen readers. Formats in `made_here` are made in the browser. For another
    format, or a component, a click returns its name. The server then draws the menu again with the
    `file` (format, bytes, a new number), and the browser saves it once. `key` names the picture in
    an address that shows only this picture.
    """
    header = {"name": name, "caption": caption, "what": what, "of": of}
    header |= {"formats": list(formats), "made_here": list(made_here)}
    header |= {"copies": list(copies), "key": key}
    files = []
    if file is not None:
        format_, content, number = file
        header["file"] = {"format": format_, "number": number}
        files = [np.frombuffer(content, np.uint8)]
    return packed("save_menu", header, *files, height=40)
