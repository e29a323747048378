"""A decoding to step through and to play: what was read, seen, considered and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from viz.canvas import CanvasPicture, Part
from viz.colors import SEQUENTIAL
from viz.numbers import Numbers
from viz.tokens import check_sizes

PART = Part.beside(__file__)


@dataclass(frozen=True)
class Bar:
    """A token that could be written next, and how likely it is."""

    text: str
    probability: float
    before: str = ""  # the part of its word that is written already
    drawn: float | None = None  # the probability it was drawn with, if one was drawn
    chosen: bool = False


def decoding_player(
    self_attention: np.ndarray,
    cross_attention: np.ndarray,
    visible: np.ndarray,
    read_tokens: Sequence[str],
    source_tokens: Sequence[str],
    *,
    texts: Sequence[str],
    bars: Sequence[Sequence[Bar]],
    start: int = 0,
    ending: str = "",
) -> CanvasPicture:
    """The steps of a decoding, each a row of weights [step, key] over what was read and the source.

    Step i looks from read token i; `visible` [step, read] is its mask. `texts` hold what was
    written before the first step and after each, `bars` the candidates of each step. It opens at
    step `start`, counted from 0; `ending` says why there are no more. A click answers with its step
    and a bar's place, a typed text, or a weight's kind ("decoder" or "cross") and key. Raises
    ValueError if sizes do not fit.
    """
    check_sizes(self_attention, read_tokens, read_tokens)
    check_sizes(visible, read_tokens, read_tokens)
    check_sizes(cross_attention, read_tokens, source_tokens)
    steps = len(read_tokens)
    if len(bars) != steps or len(texts) != steps + 1:
        raise ValueError(
            f"There are {steps} steps, {len(bars)} rows of bars and {len(texts)} texts, "
            "of which there should be one more than steps."
        )
    header = {
        "read": list(read_tokens),
        "source": list(source_tokens),
        "texts": list(texts),
        "bars": [[asdict(bar) for bar in row] for row in bars],
        "start": start,
        "ending": ending,
        "colors": SEQUENTIAL,
    }
    parts = (self_attention, cross_attention, visible)
    array = np.concatenate([np.asarray(part, np.float32).ravel() for part in parts])
    read, source = {"query": read_tokens, "key": read_tokens}, {"query": read_tokens}
    numbers = {
        "self-attention": Numbers(self_attention, read),
        "cross-attention": Numbers(cross_attention, source | {"source": source_tokens}),
        "visible": Numbers(visible, read),
    }
    return CanvasPicture.pack(PART, header, array, height=640, numbers=numbers)
