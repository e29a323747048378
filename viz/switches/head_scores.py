"""Draw a number for every head, such as its score in a test, as a map of all heads."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from headlight.viz.arrays import as_array
from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.colors import SEQUENTIAL
from headlight.viz.numbers import of_heads

PART = Part.next_to(__file__)


def head_scores(
    scores: Mapping[Any, np.ndarray],
    *,
    labels: Mapping[Any, str],
    name: str,
    unit: str = "",
    limits: tuple[float, float] = (0.0, 1.0),
    selected: tuple[str, int, int] | None = None,
) -> CanvasPicture:
    """Draw scores (layers, heads) by kind, NaN if missing; `name` and `unit` say what they are.

    The colours run from the first of the `limits` to the second. `labels` names the kinds;
    `selected` is a kind, a layer and a head, from 0; a click sends these three. Raises ValueError
    for scores of another shape.
    """
    scores = {kind: as_array(values) for kind, values in scores.items()}
    numbers = of_heads(scores, labels)
    header = {
        "scores": [
            {"name": kind, "label": labels[kind], "scores": listed(values)}
            for kind, values in scores.items()
        ],
        "name": name,
        "unit": unit,
        "limits": list(map(float, limits)),
        "colors": SEQUENTIAL,
        "selected": list(selected) if selected else None,
    }
    return CanvasPicture.pack(PART, header, height=height_of(scores), numbers=numbers)


def height_of(values: Mapping[str, np.ndarray]) -> int:
    """Return the height in pixels of maps below each other, with a row for each layer."""
    rows = sum(len(each) for each in values.values())
    return min(120 + 40 * rows, 120 + 600 * len(values))


def listed(values: np.ndarray) -> list[list[float | None]]:
    """Return an array as lists with None in place of NaN, as JSON needs."""
    return [[float(number) if np.isfinite(number) else None for number in row] for row in values]
