"""What removing each head does, as a map of all heads."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from plotly.colors import sample_colorscale

from viz.canvas import CanvasPicture, Part
from viz.colors import DIVERGING
from viz.numbers import Numbers, counted

PART = Part.beside(__file__)

SCALE = list(reversed(DIVERGING))  # a loss is red


def head_effects(
    effects: Mapping[str, np.ndarray],
    *,
    labels: Mapping[str, str],
    selected: tuple[str, int, int] | None = None,
) -> CanvasPicture:
    """Changes of a log-probability, in nats, (layers, heads) by kind; NaN if not yet known.

    Red stands for a loss and blue for a gain, from white at 0 to the largest change there is.
    `labels` names the kinds; `selected` is a kind, a layer and a head, from 0. A click answers with
    a kind, a layer and a head.
    """
    limit = max(np.nanmax(np.abs(values), initial=0) for values in effects.values())
    header = {
        "effects": [
            {
                "name": name,
                "label": labels[name],
                "effects": [[None if np.isnan(x) else float(x) for x in row] for row in values],
                "colors": [[color(x, limit) for x in row] for row in values],
            }
            for name, values in effects.items()
        ],
        "limit": float(limit),
        "scale": SCALE,
        "selected": list(selected) if selected else None,
    }
    height = 120 + 40 * sum(len(values) for values in effects.values())
    numbers = {
        labels[name]: Numbers(
            values, {"layer": counted(values.shape[0]), "head": counted(values.shape[1])}
        )
        for name, values in effects.items()
    }
    height = min(height, 120 + 600 * len(effects))
    return CanvasPicture.pack(PART, header, height=height, numbers=numbers)


def color(change: float, limit: float) -> str | None:
    """The colour of a change between -limit and limit; None if it is not yet known."""
    if np.isnan(change):
        return None
    return sample_colorscale(SCALE, [0.5 + 0.5 * float(change) / max(limit, 1e-12)])[0]
