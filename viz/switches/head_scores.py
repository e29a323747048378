"""How every head does in one test, as a map of all heads."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from viz.canvas import CanvasPicture, Part
from viz.colors import SEQUENTIAL
from viz.numbers import Numbers, counted

PART = Part.beside(__file__)


def head_scores(
    scores: Mapping[str, np.ndarray],
    *,
    labels: Mapping[str, str],
    name: str,
    selected: tuple[str, int, int] | None = None,
) -> CanvasPicture:
    """Scores from 0 to 1, (layers, heads) by kind, of the test that `name` says.

    `labels` names the kinds; `selected` is a kind, a layer and a head, from 0. A click answers
    with a kind, a layer and a head.
    """
    header = {
        "scores": [
            {"name": kind, "label": labels[kind], "scores": values.tolist()}
            for kind, values in scores.items()
        ],
        "name": name,
        "colors": SEQUENTIAL,
        "selected": list(selected) if selected else None,
    }
    numbers = {
        labels[kind]: Numbers(
            values, {"layer": counted(values.shape[0]), "head": counted(values.shape[1])}
        )
        for kind, values in scores.items()
    }
    height = 120 + 40 * sum(len(values) for values in scores.values())
    height = min(height, 120 + 600 * len(scores))
    return CanvasPicture.pack(PART, header, height=height, numbers=numbers)
