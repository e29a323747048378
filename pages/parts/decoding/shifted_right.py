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

    At every position the decoder reads one token, should write the wanted token, and would write
    its favourite, the likeliest token. All arguments have one item for each position.
    """
    header = {
        "read": list(read_tokens),
        "wanted": list(wanted_tokens),
        "favourites": list(favourite_tokens),
        # Different tokens can have equal texts; their probabilities tell them apart.
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
