"""Show a training as a film: every head's map at each snapshot, to play and to compare."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from headlight.viz.arrays import as_array, check_known
from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.colors import DIVERGING, SEQUENTIAL
from headlight.viz.numbers import Numbers, counted

PART = Part.next_to(__file__, "Attention over the training")

LEVELS = 65_535  # weights are sent as whole 65535ths: errors are at most 8e-6


def attention_film(
    weights: np.ndarray,
    steps: Sequence[int],
    query_tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    selected: tuple[int, int] = (0, 0),
    name: str = "",
) -> CanvasPicture:
    """Show weights at steps of a training: (steps, layers, heads, query, key), or without layers.

    The steps must increase. The film opens at the last step and at `selected`, a layer and a head
    from 0. Drawn again with more steps, it moves to the newest step and to `selected`, but keeps a
    step or a head that the visitor has chosen; with another `name` it opens as if it were new. The
    browser alone plays the film, changes heads and compares two steps. Weights and differences have
    three decimals. Raises ValueError if sizes do not fit, or if weights are NaN, below 0 or above
    1.
    """
    weights = as_array(weights)
    if weights.ndim == 4:
        weights = weights[:, None]
    key_tokens = query_tokens if key_tokens is None else key_tokens
    if weights.ndim != 5:
        raise ValueError(
            "The film takes weights [step, layer, head, query, key] or [step, head, query, key], "
            f"but these have the shape {weights.shape}."
        )
    check_known(weights)
    if (largest := weights.max(initial=0)) > 1 + 1e-3:  # float16 may round up a little
        raise ValueError(f"The film draws weights from 0 to 1, but the largest is {largest:.3g}.")
    if any(later <= earlier for earlier, later in pairwise(steps)):
        raise ValueError("The steps of the snapshots must increase.")
    header = {
        "steps": [int(step) for step in steps],
        "layers": weights.shape[1],
        "heads": weights.shape[2],
        "queries": list(query_tokens),
        "keys": list(key_tokens),
        "selected": list(selected),
        "name": name,
        "levels": LEVELS,
        "colors": SEQUENTIAL,
        "differences": DIVERGING,
    }
    levels = np.rint(np.clip(weights, 0, 1) * np.float32(LEVELS)).astype("<u2")
    axes = {
        "step": [str(step) for step in header["steps"]],
        "layer": counted(weights.shape[1]),
        "head": counted(weights.shape[2]),
        "query": query_tokens,
        "key": key_tokens,
    }
    numbers = {"weight": Numbers(weights, axes)}
    return CanvasPicture.pack(PART, header, levels, height=640, numbers=numbers)
