"""Draw the effect of each head on a result as a map of all heads."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from headlight.viz.arrays import as_array
from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.colors import DIVERGING
from headlight.viz.numbers import of_heads
from headlight.viz.switches.head_scores import height_of, listed

PART = Part.next_to(__file__)


def head_effects(
    effects: Mapping[Any, np.ndarray],
    *,
    labels: Mapping[Any, str],
    selected: tuple[str, int, int] | None = None,
    measure: str = "nats without it",
    ends: tuple[str, str] = ("it helped", "it was in the way"),
    decimals: int = 1,
    absent: str = "not yet measured",
) -> CanvasPicture:
    """Draw how a log-probability in nats changes without each head: (layers, heads) by kind.

    Changes below 0 are blue: the head helped. Those above 0 are red. The colours end at the largest
    change. `measure` says what the numbers are, `ends` what numbers below and above 0 mean,
    `absent` what NaN means; cells show `decimals` decimals. `labels` names the kinds; `selected` is
    a kind, a layer and a head, from 0; a click sends these three. Raises ValueError for effects of
    another shape.
    """
    effects = {kind: as_array(values) for kind, values in effects.items()}
    numbers = of_heads(effects, labels)
    limit = max(np.nanmax(np.abs(values), initial=0) for values in effects.values())
    header = {
        "effects": [
            {"name": name, "label": labels[name], "effects": listed(values)}
            for name, values in effects.items()
        ],
        "limit": float(limit),
        "colors": DIVERGING,
        "measure": measure,
        "ends": list(ends),
        "decimals": decimals,
        "absent": absent,
        "selected": list(selected) if selected else None,
    }
    return CanvasPicture.pack(PART, header, height=height_of(effects), numbers=numbers)
