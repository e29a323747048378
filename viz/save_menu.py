"""The menu beside a picture that saves it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from viz.canvas import CanvasPicture

Format = Literal["png", "svg", "html", "csv", "npz", "json"]


def save_menu(
    name: str,
    caption: str,
    what: str,
    formats: Sequence[Format],
    *,
    made_here: Sequence[Format] = ("png", "svg"),
    file: tuple[Format, bytes, int] | None = None,
) -> CanvasPicture:
    """A button for the picture that stands before it on a page.

    Formats `made_here` are made in the browser, which can write PNG, SVG, and HTML of the picture
    as it looks. For another one a click answers with its name, and the menu drawn again with the
    `file`, its bytes and a number of its own saves it, once. `name` is the files' without ending,
    `caption` is written below the picture, `what` names it for screen readers.
    """
    header = {
        "name": name,
        "caption": caption,
        "what": what,
        "formats": list(formats),
        "made_here": list(made_here),
    }
    if file is None:
        return CanvasPicture.pack("save_menu", header, height=40)
    format_, content, number = file
    header["file"] = {"format": format_, "number": number}
    return CanvasPicture.pack("save_menu", header, np.frombuffer(content, np.uint8), height=40)
