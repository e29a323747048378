"""Effects as they were estimated, against those that were measured: a point each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from viz.canvas import CanvasPicture, Part
from viz.curves.position_lines import COLORS, MOST_LINES
from viz.numbers import Numbers

PART = Part.beside(__file__, "Estimated against true effects")
AXES = ("true effect, in nats", "estimated, in nats")


def effect_points(
    true: np.ndarray,
    estimated: np.ndarray,
    names: Sequence[str],
    *,
    groups: Sequence[str] | None = None,
    named: Mapping[int, str] | None = None,
    selected: int | None = None,
    clickable: bool = False,
) -> CanvasPicture:
    """A point for each effect (N,), in nats, and the line on which both numbers are equal.

    `names` are read by pointing, `groups` tell the colour of each point, and `named` holds the
    short words that stand beside some points, by their place. A click on a `clickable` picture
    answers with the place of the nearest point; `selected` is the place of one with a ring. Raises
    ValueError if the sizes do not fit, or for more groups than there are colours.
    """
    groups = [""] * len(names) if groups is None else groups
    kinds = list(dict.fromkeys(groups))
    if not len(true) == len(estimated) == len(names) == len(groups):
        raise ValueError(
            f"There are {len(true)} true effects, {len(estimated)} estimated ones, {len(names)} "
            f"names and {len(groups)} groups."
        )
    if len(kinds) > MOST_LINES:
        raise ValueError(f"{len(kinds)} groups are more than the {MOST_LINES} colours.")
    header = {
        "names": list(names),
        "groups": [kinds.index(group) for group in groups],
        "kinds": kinds,
        "colors": list(COLORS),
        "named": [{"place": place, "words": words} for place, words in (named or {}).items()],
        "axes": list(AXES),
        "selected": selected,
        "clickable": clickable,
    }
    rows = {"true": true, "estimated": estimated}
    numbers = {name: Numbers(values, {"effect": names}) for name, values in rows.items()}
    array = np.stack([true, estimated]).astype("<f4")
    return CanvasPicture.pack(PART, header, array, height=420, numbers=numbers)
