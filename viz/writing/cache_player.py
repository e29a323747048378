"""What a decoder keeps from step to step: layers by positions, to step through and to play."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.numbers import Numbers

PART = Part.next_to(__file__, "Key-value cache")
WORDS = ("not read yet", "read from the cache", "held, but closed to the newest query")
MORE_WORDS = ("computed at this step", "dropped")


@dataclass(frozen=True)
class CacheRows:
    """The states of a cache's positions [step, layer, position], as numbers of their words."""

    title: str
    states: np.ndarray
    layers: Sequence[str]
    tokens: Sequence[str]


def cache_player(
    rows: Sequence[CacheRows], words: Sequence[str], *, start: int = 0
) -> CanvasPicture:
    """Draw the positions that are held in each layer, one step at a time.

    The states of `rows` are 0 for a position that was not read yet, 1 for one that is read from the
    cache, 2 for one that is held but closed to the newest query, 3 for one that is computed at this
    step and 4 for one that was dropped. `words` say what each step does; it opens at step `start`.
    Raises ValueError if the sizes do not fit.
    """
    for part in rows:
        sizes = len(words), len(part.layers), len(part.tokens)
        if part.states.shape != sizes:
            raise ValueError(
                f"The states of “{part.title}” are {part.states.shape}, where steps, layers and "
                f"tokens are {sizes}."
            )
    header = {
        "rows": [
            {"title": part.title, "layers": list(part.layers), "tokens": list(part.tokens)}
            for part in rows
        ],
        "steps": list(words),
        "start": start,
        "words": [*WORDS, *MORE_WORDS],
    }
    numbers: Mapping[str, Numbers] = {
        part.title: Numbers(
            part.states.astype(np.float32),
            {
                "step": [str(step + 1) for step in range(len(words))],
                "layer": part.layers,
                "position": part.tokens,
            },
        )
        for part in rows
    }
    array = np.concatenate([part.states.ravel() for part in rows]).astype(np.uint8)
    return CanvasPicture.pack(PART, header, array, height=420, numbers=numbers)
