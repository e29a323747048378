"""A text that a browser tab keeps, so that it outlives a reload."""

from __future__ import annotations

from viz.canvas import CanvasPicture


def kept_text(name: str, text: str | None) -> CanvasPicture:
    """Keep a text in the tab under a name; an empty one removes it.

    None asks for what is kept: where there is something, the picture answers with it.
    """
    return CanvasPicture.pack("kept_text", {"name": name, "text": text}, height=0)
