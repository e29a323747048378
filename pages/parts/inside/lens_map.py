"""What a decoder would already write after each layer: layers by positions."""

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
    """The likeliest word of every layer after every token, shaded by its probability.

    `words` are the likeliest ones [layer, position, place], best first, with their `probabilities`;
    `ranks` [layer, position] count from 1, of the word that is the likeliest in the end, which
    stays first from the row `settled` [position] on. `layers` name the rows, and `read` the
    columns.
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
        "rank of the word in the end": Numbers(ranks.astype(np.float32), axes),
    }
    height = 140 + 26 * len(layers)
    array = probabilities.astype("<f4")
    return CanvasPicture.pack(PART, header, array, height=height, numbers=numbers)
