"""Tokens on the axes of pictures: always text, never markup."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

LONGEST_LABEL = 16
WORD_JOINER = "\u2060"


def check_sizes(
    weights: np.ndarray, query_tokens: Sequence[str], key_tokens: Sequence[str]
) -> None:
    """Raise ValueError, with both numbers, where [..., query, key] does not fit its tokens."""
    for axis, name, tokens in ((-2, "queries", query_tokens), (-1, "keys", key_tokens)):
        if weights.shape[axis] != len(tokens):
            raise ValueError(
                f"The weights have {weights.shape[axis]} {name} but there are {len(tokens)} tokens."
            )


def shorten(token: str) -> str:
    """The token, cut so that one long word leaves room for the picture."""
    return token if len(token) <= LONGEST_LABEL else token[: LONGEST_LABEL - 1] + "…"


def plotly_labels(tokens: Sequence[str]) -> list[str]:
    """Tick texts that Plotly shows as typed.

    Plotly reads some tags and entities in tick and hover texts. Streamlit replaces colour codes
    such as #000001 anywhere in a figure, so an invisible joiner keeps sign and digits apart.
    """
    return [
        html.escape(shorten(token), quote=False).replace("#", f"#{WORD_JOINER}") for token in tokens
    ]
