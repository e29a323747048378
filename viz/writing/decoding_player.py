"""Play a decoding step by step: the tokens read, their weights, the candidates, the text so far."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.colors import SEQUENTIAL
from headlight.viz.numbers import Numbers

PART = Part.next_to(__file__)


@dataclass(frozen=True)
class Bar:
    """A token that could be written next, and its probability."""

    text: str
    probability: float
    before: str = ""  # the part of the token's word that is already written
    drawn: float | None = None  # the probability of drawing it; None unless tokens are sampled
    rank: int = 0  # the token's rank by probability, from 1 for the likeliest; 0 if not known
    chosen: bool = False


def decoding_player(
    self_attention: np.ndarray,
    cross_attention: np.ndarray | None,
    visible: np.ndarray,
    read_tokens: Sequence[str],
    source_tokens: Sequence[str] | None,
    *,
    texts: Sequence[str],
    bars: Sequence[Sequence[Bar]],
    start: int = 0,
    ending: str = "",
) -> CanvasPicture:
    """Draw the steps of a decoding, each with its weights over the tokens read and the source.

    `self_attention` (steps, read) has a key for every token that the last step has read, the newest
    at the end; `visible` (steps, read) is its mask. If there are more tokens than steps, the first
    tokens are a prompt, and the first step looks from the prompt's last token. `cross_attention` is
    (steps, source); without a source, it and `source_tokens` are None.

    `texts` hold the text before the first step and after each step, `bars` the candidates of each
    step. The player opens at step `start`, from 0; `ending` says why there are no more steps. A
    click sends the step with a bar's index, a typed text, or a weight's kind ("decoder" or "cross")
    and key. When the player stops at another step, it sends the step and None.
    """
    looking = list(read_tokens[-len(self_attention) :])
    header = {
        "read": list(read_tokens),
        "source": None if source_tokens is None else list(source_tokens),
        "texts": list(texts),
        "bars": [[asdict(bar) for bar in row] for row in bars],
        "start": start,
        "ending": ending,
        "tells": True,
        "colors": SEQUENTIAL,
    }
    own, source = (
        {"query": looking, "key": read_tokens},
        {"query": looking, "source": source_tokens},
    )
    numbers = {"self-attention": Numbers(self_attention, own)}
    if cross_attention is not None:
        numbers["cross-attention"] = Numbers(cross_attention, source)
    numbers["visible"] = Numbers(visible, own)
    parts = [np.asarray(part.values, np.float32).ravel() for part in numbers.values()]
    return CanvasPicture.pack(PART, header, np.concatenate(parts), height=640, numbers=numbers)
