"""A button that copies the page's address."""

from __future__ import annotations

from viz.canvas import CanvasPicture


def copy_link(label: str = "Copy link") -> CanvasPicture:
    """Copies the address as it is when clicked, with the theme where that is not the system's."""
    return CanvasPicture.pack("copy_link", {"label": label}, height=48)
