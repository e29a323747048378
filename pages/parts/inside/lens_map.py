"""A table of the words that a decoder would write if it ended after each of its layers."""

from collections.abc import Sequence

import numpy as np

from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.numbers import Numbers

PART = Part.next_to(__file__, "What each layer would write")


def lens_map(
    words: Sequence[Sequence[Sequence[str]]],
    probabilities: np.ndarray,
    ranks: np.ndarray,
    settled: np.ndarray,
    *,
    layers: Sequence[str],
    read: Sequence[str],
) -> CanvasPicture:
    """Return a table of the likeliest next word of every layer and token, shaded by probability.

    `words` [layer, position, index] are the likeliest words, best first, with `probabilities` of
    the same shape. `ranks` [layer, position] are the ranks, from 1, of the word that the last layer
    finds likeliest; from layer `settled` [position] on, it is the likeliest. `layers` name the
    rows, and `read` the columns.
    """
    header = {
        "layers": list(layers),
        "read": list(read),
        "words": [[list(place) for place in row] for row in words],
        "ranks": ranks.tolist(),
        "settled": settled.tolist(),
    }
    axes = {"layer": layers, "position": read}
    numbers = {
        "probability of the likeliest": Numbers(probabilities[..., 0], axes),
        "rank of the last layer's word": Numbers(ranks.astype(np.float32), axes),
    }
    height = 140 + 26 * len(layers)
    array = probabilities.astype("<f4")
    return CanvasPicture.pack(PART, header, array, height=height, numbers=numbers)
