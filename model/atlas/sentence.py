"""One sentence compared with a corpus: its figures, and how far they are from the usual ones."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch

from model.atlas.counting import Count, rows_of
from model.atlas.figures import figures
from model.atlas.statistics import STATISTICS, Statistic, sums_of
from model.reader import Reader
from model.trace import Kind, Trace

OF_SEVERAL = ("variability", "distance to other heads")  # a sentence has none, or it takes long
FAR = 2.0  # standard deviations
MOST = 0.95  # of the sentences

BY_NAME = {statistic.name: statistic for statistic in STATISTICS}

Figures = Mapping[Kind, Mapping[str, np.ndarray]]  # (L, H) by kind and name; NaN if not defined


def figures_of(reader: Reader, trace: Trace) -> Figures:
    """Return the figures of all heads on one text, as a count of that text would have them.

    Statistics that compare sentences or heads are left out. Raises ValueError if the model cannot
    read the tokens.
    """
    found = {}
    for rows in rows_of(reader, [trace]):
        sums, _ = sums_of(rows, torch.zeros(1, dtype=torch.bool, device=rows.weights.device))
        own = figures(Count({}, sums=sums), rows.kind)
        found[rows.kind] = {
            name: figure.mean for name, figure in own.items() if name not in OF_SEVERAL
        }
    return found


class Standing(NamedTuple):
    """How a sentence compares with those of a corpus."""

    deviations: float  # from the mean of sentences; NaN if all are equal
    tail: float  # the share of sentences that are as far out on its side, or further
    is_far: bool  # more than FAR deviations from the mean
    is_rare: bool  # outside the range of MOST sentences


def standing(
    value: float, mean: float, deviation: float, bins: np.ndarray, statistic: Statistic
) -> Standing:
    """Return how a value compares with a mean, a deviation and bins (20,) of sentences.

    All sentences in its own bin count as being as far out.
    """
    share = (value - statistic.low) / (statistic.high - statistic.low)
    own = int(np.clip(share * len(bins), 0, len(bins) - 1))
    above = value >= mean
    tail = float((bins[own:] if above else bins[: own + 1]).sum() / max(bins.sum(), 1))
    deviations = float((value - mean) / deviation) if deviation > 0 else np.nan
    return Standing(deviations, tail, abs(deviations) > FAR, tail <= (1 - MOST) / 2)
