"""A switch for every head of every kind of attention."""

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
    """Gates (layers, heads) by kind, 1 for a head that is on, 0 for one that is off.

    Kinds may have different numbers of layers and heads. `labels` names the kinds; `selected` is a
    kind, a layer and a head, from 0. Heads of a kind that share each key, so many as its number in
    `groups`, stand together under a line. A click answers with a kind, a layer and a head; the
    layer is null if all layers are meant, as for a head of every layer, and the head likewise.
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
