"""All heads at once: a grid of small maps, layers down and heads across."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from viz.arrays import layer_weights
from viz.canvas import CanvasPicture
from viz.colors import SEQUENTIAL
from viz.tokens import check_sizes


def head_grid(
    weights: np.ndarray,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    column_labels: Sequence[str] | None = None,
    selected: tuple[int, int] | None = None,
    own_scale: bool = False,
) -> CanvasPicture:
    """Weights (layers, heads, query, key) as one picture with a button on every map.

    They may also be the attentions that transformers returns: a tuple with a tensor (1, heads,
    query, key) a layer. Without `key_tokens` the queries look at each other.

    The colours run from 0 to 1 for all maps, or with `own_scale` from 0 to each map's largest
    weight. `selected` is a layer and a column, both from 0. Columns are labelled 1, 2, ... unless
    `column_labels` says otherwise, as for columns that hold the mean over heads.
    """
    weights = layer_weights(weights)
    key_tokens = query_tokens if key_tokens is None else key_tokens
    check_sizes(weights, query_tokens, key_tokens)
    layers, columns = weights.shape[:2]
    labels = list(column_labels or (f"head {column + 1}" for column in range(columns)))
    strongest = weights.reshape(layers, columns, -1)
    largest = strongest.max(axis=-1)  # (layers, columns)
    places = strongest.argmax(axis=-1)  # (layers, columns)
    header = {
        "queries": list(query_tokens),
        "keys": list(key_tokens),
        "rows": [f"layer {layer + 1}" for layer in range(layers)],
        "columns": labels,
        "selected": list(selected) if selected else None,
        "strongest": [
            [int(place) // len(key_tokens), int(place) % len(key_tokens), round(float(value), 4)]
            for place, value in zip(places.ravel(), largest.ravel(), strict=True)
        ],
        "colors": SEQUENTIAL,
    }
    top = np.maximum(largest, 1e-12)[..., None, None] if own_scale else 1.0
    maps = np.rint(np.clip(weights / top, 0, 1) * 255).astype(np.uint8)
    return CanvasPicture.pack("head_grid", header, maps, height=60 + 90 * layers)
