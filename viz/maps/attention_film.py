"""A training as a film: every head's map at each snapshot, to scrub, play and compare."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from headlight.viz.arrays import as_array, check_known
from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.colors import DIVERGING, SEQUENTIAL
from headlight.viz.numbers import Numbers, counted

PART = Part.next_to(__file__, "Attention over the training")

LEVELS = 65_535  # parts of a weight in transfer: whole numbers of them are off by 8e-6 at most


def attention_film(
    weights: np.ndarray,
    steps: Sequence[int],
    query_tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    selected: tuple[int, int] = (0, 0),
    name: str = "",
) -> CanvasPicture:
    """Weights at several steps of a training: (steps, layers, heads, query, key), or no layers.

    The steps increase. Scrubbing, playing, another head and a second step to compare with stay in
    the browser. It opens at the last step and at `selected`, a layer and a head from 0. When it is
    drawn again with more steps, it moves to the newest step and to `selected`, unless the visitor
    has chosen a step and a head: then it stays there. Another `name` starts over. Weights and
    differences are shown to three decimals, which are exact for weights kept as float16 or finer.
    Raises ValueError if sizes do not fit, or if weights are NaN, below 0 or above 1.
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
    if (largest := weights.max(initial=0)) > 1 + 1e-3:  # beyond the rounding of float16
        raise ValueError(f"The film draws weights from 0 to 1, but the largest is {largest:.3g}.")
    if any(later <= earlier for earlier, later in pairwise(steps)):
        raise ValueError("The steps of the snapshots do not count up.")
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
