"""A picture of teacher forcing: the tokens a decoder reads, above those it should write."""

from collections.abc import Sequence

import numpy as np

from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.numbers import Numbers

PART = Part.next_to(__file__)


def shifted_right(
    probabilities: np.ndarray,
    favourite_probabilities: np.ndarray,
    read_tokens: Sequence[str],
    wanted_tokens: Sequence[str],
    favourite_tokens: Sequence[str],
) -> CanvasPicture:
    """Return a table of the target, the target shifted right, and each token's probability.

    At every position the decoder reads a token (`read_tokens`), should write another
    (`wanted_tokens`), and finds one likeliest (`favourite_tokens`). All arguments have one item
    for each position.
    """
    header = {
        "read": list(read_tokens),
        "wanted": list(wanted_tokens),
        "favourites": list(favourite_tokens),
        # Two different tokens can have the same text, but hardly the same probability.
        "same": [
            bool(wanted == favourite and np.isclose(probability, highest, rtol=1e-4))
            for wanted, favourite, probability, highest in zip(
                wanted_tokens, favourite_tokens, probabilities, favourite_probabilities, strict=True
            )
        ],
    }
    array = np.stack([probabilities, favourite_probabilities]).astype(np.float32)
    numbers = {
        "probability": Numbers(array[0], {"wanted": wanted_tokens}),
        "largest probability": Numbers(array[1], {"would write": favourite_tokens}),
    }
    return CanvasPicture.pack(PART, header, array, height=220, numbers=numbers)
