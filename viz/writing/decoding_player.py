"""A decoding to step through and to play: the tokens read, seen, considered and written."""

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
    before: str = ""  # the part of its word that is already written
    drawn: float | None = None  # the probability at which it was sampled, if it was
    rank: int = 0  # by probability, 1 for the likeliest; 0 if it is not known
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
    """The steps of a decoding, each a row of weights [step, key] over what was read and the source.

    The keys of `self_attention` are all tokens that were read, the last step's newest at the end;
    `visible` [step, read] is its mask. If more were read than there are steps, the first of them
    are a prompt, and the first step looks from its last token. Without a source, `cross_attention`
    and `source_tokens` are None.

    `texts` hold the text before the first step and after each, `bars` the candidates of each step.
    It opens at step `start`, counted from 0; `ending` says why there are no more steps. A click
    answers with its step and a bar's index, a typed text, or a weight's kind ("decoder" or "cross")
    and key; at rest at another step it answers with that and None.
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
