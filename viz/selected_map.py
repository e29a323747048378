"""Which map is selected in a grid of all heads that stands elsewhere on the page."""

from __future__ import annotations

from viz.canvas import CanvasPicture


def selected_map(place: tuple[int, int] | None) -> CanvasPicture:
    """Mark a layer and a column, both from 0, in the page's `linked` grid, or none.

    It shows nothing itself, and answers with the map that is clicked in the grid. So a choice
    does not send the grid again.
    """
    return CanvasPicture.pack("selected_map", {"place": list(place) if place else None}, height=0)
