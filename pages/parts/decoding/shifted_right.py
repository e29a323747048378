"""Teacher forcing: the tokens a decoder reads and those it should write, one position apart."""

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
    """The target over itself shifted right, with the probability (0 to 1) of each wanted token.

    At every position the decoder reads one token, should write the wanted one, and would write
    its favourite, the likeliest.
    """
    header = {
        "read": list(read_tokens),
        "wanted": list(wanted_tokens),
        "favourites": list(favourite_tokens),
        # Equal texts can be different tokens, which the probabilities distinguish.
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
