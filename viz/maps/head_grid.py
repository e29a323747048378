"""Draw all heads as a grid of small maps, with a row for each layer."""

from collections.abc import Collection, Sequence
from itertools import pairwise
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np

from headlight.viz.arrays import as_floats, as_levels, check_known, in_bytes, layer_weights
from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.colors import SEQUENTIAL
from headlight.viz.images import as_png, on_patches
from headlight.viz.numbers import Numbers

PART = Part.next_to(__file__, "All heads")
SELECTED = Part(Path(__file__).with_name("selected_map.js"))

MOST_CELLS = 1_000_000  # the most cells of all maps, a byte each: about as many as a screen shows
MANY_JOINED = 4  # if so many rows are joined into one, `np.max` over each group of rows is faster


def head_grid(
    weights: np.ndarray | Sequence[np.ndarray],
    query_tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    *,
    column_labels: Sequence[str] | None = None,
    selected: tuple[int, int] | None = None,
    linked: bool = False,
    own_scale: bool = False,
    group: int = 1,
    off: Collection[tuple[int, int]] = (),
    image: Any = None,
    patches: tuple[int, int] | None = None,
    query: int = 0,
) -> CanvasPicture:
    """Draw weights (layers, heads, query, key) as small maps, each of them a button.

    They may also be a list with the array (heads, query, key) of each layer, or the attentions that
    transformers returns: a tuple with a tensor (1, heads, query, key) for each layer. Bytes are
    weights times 255, rounded. Without `key_tokens` the queries look at each other; without any
    tokens, queries and keys are numbered.

    The colours run from 0 to 1 for all maps, or with `own_scale` from 0 to each map's largest
    weight. `selected` is a layer and a column, both from 0. For a `linked` grid, a `selected_map`
    on the same page sets the selected map and sends the clicked one. Columns are labelled 1, 2, ...
    unless `column_labels` are given, as for a column with the mean over heads. Each `group`
    neighbouring heads share keys and values, and are joined by a line. The maps in `off`, by layer
    and column from 0, are pale: their heads are switched off.

    With an `image` and its `patches`, (rows, columns), each map shows this image, coloured by what
    one `query` looks at: by default the first token, such as the class token. The patches are the
    last keys, row by row, and the colours run to each map's largest weight.

    If there are more than `MOST_CELLS` weights, neighbouring cells of a map are joined, and the
    joined cell has the largest of their weights: a mean would hide single bright cells. The browser
    does the same if cells are smaller than its pixels, and says so below the maps. The largest
    weight written for each map is taken before cells are joined. Raises ValueError if sizes do not
    fit, or if weights are NaN or below 0.
    """
    layers = layer_weights(weights)
    if (image is None) != (patches is None):
        raise ValueError("Give both image=... and patches=(rows, columns), or neither.")
    if patches is not None:
        layers = [on_patches(layer, patches, query) for layer in layers]
        query_tokens = [f"row {row + 1}" for row in range(patches[0])]
        key_tokens = [f"column {column + 1}" for column in range(patches[1])]
    if query_tokens is None:
        query_tokens, key_tokens = ([*map(str, range(1, n + 1))] for n in layers[0].shape[-2:])
    key_tokens = query_tokens if key_tokens is None else key_tokens
    columns = len(layers[0])
    rows = [f"layer {layer + 1}" for layer in range(len(layers))]
    labels = list(column_labels or (f"head {column + 1}" for column in range(columns)))
    axes = {"layer": rows, "head": labels, "query": query_tokens, "key": key_tokens}
    numbers = Numbers(layers, axes)
    cells = joined_shape(len(layers) * columns, len(query_tokens), len(key_tokens))
    levels = np.empty((len(layers), columns, *cells), np.uint8)
    strongest = []
    for drawn, layer in zip(levels, layers, strict=True):
        indices, largest = strongest_of(layer)
        check_known(layer)
        tops = np.maximum(largest, 1e-12)[:, None, None] if own_scale or patches else 1.0
        drawn[:] = as_levels(as_floats(join_cells(layer, *cells)) / tops)
        strongest += zip(indices.tolist(), largest.tolist(), strict=True)
    header = {
        "queries": list(query_tokens),
        "keys": list(key_tokens),
        "cells": cells,
        "rows": rows,
        "columns": labels,
        "selected": list(selected) if selected else None,
        "linked": linked,
        "group": group,
        "off": [layer * columns + column for layer, column in off],
        "strongest": [[*divmod(index, len(key_tokens)), value] for index, value in strongest],
        "colors": SEQUENTIAL,
    }
    if image is not None:
        header["image"] = as_png(image)
    rounded = any(map(in_bytes, layers))
    return CanvasPicture.pack(
        PART,
        header,
        levels,
        height=60 + min(90, 40 + 480 // len(layers)) * len(layers),
        numbers={"weight rounded to 255ths" if rounded else "weight": numbers},
    )


def strongest_of(layer: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each map of a layer [head, query, key], the largest weight's index and value."""
    flat = layer.reshape(len(layer), -1)
    indices = flat.argmax(axis=-1)  # (H,)
    return indices, as_floats(flat[np.arange(len(flat)), indices])


def selected_map(place: tuple[int, int] | None) -> CanvasPicture:
    """Return a picture, itself invisible, that marks a map in the page's `linked` grid.

    `place` is a layer and a column, both from 0; None marks no map. The picture sends the map that
    is clicked in the grid, so that the grid itself need not be sent again after a choice.
    """
    return CanvasPicture.pack(SELECTED, {"place": list(place) if place else None}, height=0)


def joined_shape(maps: int, queries: int, keys: int) -> tuple[int, int]:
    """Return the most rows and columns per map that keep `maps` maps within `MOST_CELLS` cells."""
    most = max(1, MOST_CELLS // maps)
    rows = min(queries, max(isqrt(most), most // keys))
    return rows, min(keys, most // rows)


def join_cells(maps: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Reduce maps [..., query, key] to [..., rows, columns], each cell the largest of its group."""
    return join_along(join_along(maps, rows, -2), columns, -1)


def join_along(maps: np.ndarray, count: int, axis: int) -> np.ndarray:
    """Reduce an axis of maps to `count` cells, each the largest of a group of neighbours."""
    length = maps.shape[axis]
    if count == length:
        return maps
    bounds = np.arange(count + 1) * length // count
    if axis == -2 and length >= MANY_JOINED * count:  # reads each number once, and copies no rows
        shares = pairwise(bounds.tolist())
        return np.stack([maps[..., start:end, :].max(axis=-2) for start, end in shares], axis=-2)
    first, last = bounds[:-1], bounds[1:] - 1
    joined = maps.take(first, axis)
    # Takes the first cells of all groups, then the second, ...: np.maximum.reduceat is 5x slower.
    for offset in range(1, (last - first).max() + 1):
        np.maximum(joined, maps.take(np.minimum(first + offset, last), axis), out=joined)
    return joined
