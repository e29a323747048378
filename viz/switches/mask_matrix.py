"""A mask as a matrix of cells, to look at or to change by hand."""

from collections.abc import Sequence

import numpy as np

from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.numbers import Numbers

PART = Part.next_to(__file__)

# The bits of a cell: the lowest says whether it is visible, the next whether this was changed.
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
    """Which keys each query may see: visible [query, key], True if it may.

    Cells that differ from the mask as `trained` are marked as closed or opened. An editable matrix
    answers clicks, drags and keys with the cells and whether they are to be opened.
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
