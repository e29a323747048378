"""A picture with a switch for every head of every kind of attention."""

from collections.abc import Mapping

import numpy as np

from headlight.model.transformer.trace import Kind
from headlight.viz.canvas import CanvasPicture, Part

PART = Part.next_to(__file__)


def switchboard(
    gates: Mapping[Kind, np.ndarray],
    *,
    labels: Mapping[Kind, str],
    groups: Mapping[Kind, int] | None = None,
    selected: tuple[str, int, int] | None = None,
) -> CanvasPicture:
    """Return the switches of all heads; `gates` (layers, heads) by kind are 1 for on, 0 for off.

    Kinds may have different numbers of layers and heads. `labels` names the kinds; `selected` is a
    kind, a layer and a head, from 0. `groups` has, by kind, how many heads share each key; heads
    that share a key are drawn under one line. A click answers with a kind, a layer and a head; the
    layer is null for all layers, the head is null for all heads.
    """
    header = {
        "kinds": [
            {
                "name": name,
                "label": labels[name],
                "gates": np.asarray(values).tolist(),
                "group": (groups or {}).get(name, 1),
            }
            for name, values in gates.items()
        ],
        "selected": list(selected) if selected else None,
    }
    height = 80 + 40 * sum(len(values) for values in gates.values())
    return CanvasPicture.pack(PART, header, height=min(height, 680 * len(gates)))
