"""Histograms of numbers over many sentences, with the values of one sentence marked."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.numbers import Numbers

PART = Part.next_to(__file__, "Distributions over sentences")


class Spread(NamedTuple):
    """A number over many sentences: how many sentences are in each of several bins of equal width.

    `usual` describes it in words, `here` is its value for the visitor's sentence, and `said` is
    that value in words, coloured if it is `far` from those of the other sentences. `bins` is None
    for a number without a histogram.
    """

    name: str
    usual: str
    bins: np.ndarray | None = None
    low: float = 0.0  # where the first bin begins
    high: float = 1.0  # where the last bin ends
    here: float | None = None
    said: str = ""
    far: bool = False


def distributions(spreads: Sequence[Spread]) -> CanvasPicture:
    """Return a picture with a row for each number, with its histogram if it has one."""
    counted = [(spread, spread.bins) for spread in spreads if spread.bins is not None]
    header = {
        "rows": [
            spread._asdict() | {"bins": 0 if spread.bins is None else len(spread.bins)}
            for spread in spreads
        ]
    }
    numbers = {
        f"sentences by {spread.name}": Numbers(
            np.asarray(bins, dtype=float), {"from": edges_of(spread, len(bins))}
        )
        for spread, bins in counted
    }
    array = np.concatenate([bins for _, bins in counted]).astype("<f4") if counted else None
    return CanvasPicture.pack(PART, header, array, height=40 + 44 * len(spreads), numbers=numbers)


def edges_of(spread: Spread, bins: int) -> list[str]:
    edges = np.linspace(spread.low, spread.high, bins + 1)[:-1]
    return [f"{edge:g}" for edge in edges.round(9)]
