"""A sum with its parts: what each adds or takes away."""

from collections.abc import Sequence

import numpy as np

from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.colors import SIGNS
from headlight.viz.numbers import Numbers

PART = Part.next_to(__file__, "Parts of a sum")


def sum_bars(
    parts: np.ndarray,
    names: Sequence[str],
    *,
    ends: tuple[str, str],
    total: str,
    beside: str = "",
    unit: str = "nats",
    whole: float | None = None,
    weights: np.ndarray | None = None,
    clickable: bool = False,
    sentences: bool = False,
) -> CanvasPicture:
    """Parts of a sum (N,), in a unit, as bars to both sides of 0, and the sum below them.

    `ends` name the sides above and below 0, and `total` the sum, with words `beside` it; if the
    parts do not add up, `whole` replaces their sum. Each part can have a weight (N,). A click on a
    `clickable` part answers with its index. Names that are `sentences` may take two lines.
    """
    header = {
        "names": list(names),
        "ends": list(ends),
        "total": total,
        "beside": beside,
        "unit": unit,
        "sum": float(np.sum(parts)) if whole is None else whole,
        "limit": float(np.max(np.abs(parts), initial=0)) or 1.0,
        "weighed": weights is not None,
        "clickable": clickable,
        "sentences": sentences,
        "colors": SIGNS,
    }
    rows = {unit: parts} | ({} if weights is None else {"weight": weights})
    numbers = {name: Numbers(values, {"part": names}) for name, values in rows.items()}
    array = np.stack(list(rows.values())).astype("<f4")
    height = min(90 + 22 * len(parts), 640)
    return CanvasPicture.pack(PART, header, array, height=height, numbers=numbers)
