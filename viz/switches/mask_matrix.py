"""Draw a mask as a matrix of cells, to look at or to change by hand."""

from collections.abc import Sequence

import numpy as np

from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.numbers import Numbers

PART = Part.next_to(__file__)

# The state of a cell is a sum: 1 if its key is visible, and 2 if the visitor changed the cell.
BLOCKED, VISIBLE, CLOSED, OPENED = range(4)
WORDS = ("blocked", "visible", "closed by you", "opened by you")


def mask_matrix(
    visible: np.ndarray,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    trained: np.ndarray | None = None,
    editable: bool = False,
    label: str = "Mask",
) -> CanvasPicture:
    """Draw which keys each query may see: visible [query, key], True if it may.

    Cells that differ from the `trained` mask are marked as closed or opened. After a click, a
    drag or a key, an editable matrix sends the cells and whether to open them.
    """
    trained = visible if trained is None else trained
    states = np.asarray(visible) + 2 * (np.asarray(visible) != trained)
    header = {
        "queries": list(query_tokens),
        "keys": list(key_tokens),
        "editable": editable,
        "label": label,
        "words": WORDS,
    }
    height = min(120 + 22 * len(query_tokens), 1600)
    axes = {"query": query_tokens, "key": key_tokens}
    numbers = {"visible": Numbers(visible, axes), "visible as trained": Numbers(trained, axes)}
    return CanvasPicture.pack(PART, header, states.astype(np.uint8), height=height, numbers=numbers)
