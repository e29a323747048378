"""Draw the parts of a sum as bars, and the sum below them."""

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
    """Draw the parts of a sum (N,) as bars to the left and right of 0, and the sum below them.

    `ends` say what parts above and below 0 mean, `total` what the sum means, and `beside` is
    written next to the sum. If the parts do not add up to the true total, this total is `whole`: it
    is shown in place of their sum. `weights` (N,) are written next to the parts. A click on a
    `clickable` part sends its index. Names that are `sentences` may take two lines.
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
