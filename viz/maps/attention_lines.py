"""Draw one head as lines between two columns of tokens."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from headlight.viz.arrays import head_weights
from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.numbers import Numbers, largest

PART = Part.next_to(__file__)


def attention_lines(
    weights: np.ndarray,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    lit: tuple[Literal["query", "key"], int] | None = None,
    keeps: bool = True,
) -> CanvasPicture:
    """Draw weights [query, key] as lines from each query on the left to the keys on the right.

    The larger a weight, the thicker and more opaque its line. Pointing at a token leaves only its
    lines, and writes their weights next to the other column. If the picture `keeps` lines, a click
    on a token keeps this state, and sends the token's side and index from 0; another click ends it
    and sends None. The `lit` token is kept at first. Without `key_tokens` the queries look at each
    other. Raises ValueError if sizes do not fit, or for weights below 0.
    """
    weights = head_weights(weights)
    key_tokens = query_tokens if key_tokens is None else key_tokens
    height = 40 + 26 * max(len(query_tokens), len(key_tokens))
    numbers = {"weight": Numbers(weights, {"query": query_tokens, "key": key_tokens})}
    header = {
        "queries": list(query_tokens),
        "keys": list(key_tokens),
        "lit": list(lit) if lit else None,
        "keeps": keeps,
        "words": largest(numbers),
    }
    return CanvasPicture.pack(PART, header, weights.astype("<f4"), height=height, numbers=numbers)
