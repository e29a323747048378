"""The statistics of every head, computed from the sums over a corpus, and their meaning.

By its statistics a sentence is compared with a corpus, and heads become points of a plane.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from headlight.model.reader import Reader
from headlight.model.trace import Trace
from headlight.model.transformer.trace import KINDS, Kind, MaybeNone
from headlight.wings.atlas.counting import Count, rows_of
from headlight.wings.atlas.statistics import (
    ALL,
    BADGES,
    OFFSETS,
    STATISTICS,
    Statistic,
    Sums,
    sums_of,
)

# Statistics that are not computed for a single sentence: one sentence has no variability, and the
# distances take long.
OF_SEVERAL = ("variability", "distance to other heads")
FAR = 2.0  # a sentence more standard deviations from the mean than this counts as far
MOST = 0.95  # a sentence outside the range of this share of all sentences counts as rare

BY_NAME = {statistic.name: statistic for statistic in STATISTICS}

Figures = Mapping[Kind, Mapping[str, np.ndarray]]  # (L, H) by kind and name; NaN if not defined


@dataclass(frozen=True)
class Figure:
    """One statistic of all heads of a kind of attention: arrays (L, H), NaN where not defined.

    `mean` is over all rows of the corpus. The other fields exist for statistics with one number a
    row, and describe the means of single sentences: their mean, their standard deviation, and how
    many are in each of 20 `bins` (L, H, 20) from the lowest value to the highest.
    """

    mean: np.ndarray
    of_sentences: np.ndarray | MaybeNone = None
    deviation: np.ndarray | MaybeNone = None
    bins: np.ndarray | MaybeNone = None


def kinds_of(count: Count) -> list[Kind]:
    return [kind for kind in KINDS if f"{kind}/entropy/sum" in count.sums]


def figures(count: Count, kind: Kind) -> dict[str, Figure]:
    """Return all figures of the heads of a kind, by the names of their statistics."""
    by_name = {
        statistic.name: figure(count.sums, f"{kind}/{statistic.name}")
        for statistic in STATISTICS
        if kind in statistic.kinds
    }
    if "distance" in by_name:
        variance = by_name["squared distance"].mean - by_name["distance"].mean ** 2
        by_name["spread of distance"] = Figure(np.sqrt(np.maximum(variance, 0)))
        by_name["positional"] = Figure(np.nanmax(offset_shares(count, kind), axis=-1))
    by_name["variability"] = Figure(variability(count.sums, kind))
    distances = divergences(count, kind)
    others = max(len(distances) - 1, 1)
    shape = by_name["entropy"].mean.shape
    by_name["distance to other heads"] = Figure((distances.sum(axis=1) / others).reshape(shape))
    return by_name


def figure(sums: Sums, name: str) -> Figure:
    """Return the figure of one statistic, computed from its sums."""
    total, rows, means, squares, sentences, bins = (
        sums[f"{name}/{part}"] for part in ("sum", "rows", "means", "squares", "sentences", "bins")
    )
    mean = ratio(means, sentences)
    variance = ratio(squares, sentences) - mean**2
    return Figure(ratio(total, rows), mean, np.sqrt(np.maximum(variance, 0)), bins)


def offset_shares(count: Count, kind: Kind) -> np.ndarray:
    """Return how often the largest weight is at each of OFFSETS from the query: (L, H, offsets)."""
    name = f"{kind}/positional"
    shares = ratio(count.sums[f"{name}/sum"], count.sums[f"{name}/rows"])
    return np.nan_to_num(shares, nan=0.0)


def variability(sums: Sums, kind: Kind) -> np.ndarray:
    """Return how much the weights of the first tokens vary between sentences: (L, H)."""
    name = f"{kind}/variability"
    sentences = sums[f"{name}/sentences"]
    mean = ratio(sums[f"{name}/sum"], sentences)  # (L, H, N, N)
    variance = ratio(sums[f"{name}/squares"], sentences) - mean**2
    deviation = np.sqrt(np.maximum(variance, 0)).sum(axis=(-2, -1))
    return ratio(deviation, 2 * mean.sum(axis=(-2, -1)))


def divergences(count: Count, kind: Kind) -> np.ndarray:
    """Return the mean Jensen-Shannon divergence of any two heads of a kind: (L * H, L * H)."""
    name = f"{kind}/distance to other heads"
    return ratio(count.sums[f"{name}/sum"], count.sums[f"{name}/rows"])


def clearest_pattern(count: Count, kind: Kind) -> list[list[str]]:
    """Return for each head the pattern with the largest ratio of score to threshold: (L, H)."""
    names = [name for name, pattern in BADGES.items() if kind in pattern.kinds]
    shares = [figure(count.sums, f"{kind}/{name}").mean / BADGES[name].threshold for name in names]
    return np.take(names, np.nan_to_num(np.stack(shares)).argmax(axis=0)).tolist()


def ratio(total: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return sums divided by counts; NaN where the count is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(count > 0, np.divide(total, count), np.nan)


def defined(statistics: tuple[Statistic, ...] = ALL) -> list[dict]:
    """Return each statistic's name, meaning, unit, kinds and source, as plain data."""
    return [
        {name: getattr(statistic, name) for name in ("name", "words", "unit", "kinds", "source")}
        for statistic in statistics
    ]


def as_data(count: Count) -> dict:
    """Return a count's figures as plain data for JSON, NaN as None."""
    return {
        "about": count.about,
        "lines": dict(count.lines),
        "statistics": defined(),
        "kinds": {
            kind: {
                "figures": {
                    name: {
                        part: listed(array) for part, array in vars(of_heads).items()
                        if array is not None
                    }
                    for name, of_heads in figures(count, kind).items()
                },
                "offsets": {"from": list(OFFSETS), "shares": listed(offset_shares(count, kind))}
                if f"{kind}/positional/sum" in count.sums else None,
                "distances": listed(divergences(count, kind)),
                "clearest pattern": clearest_pattern(count, kind),
            }
            for kind in kinds_of(count)
        },
    }  # fmt: skip


def listed(array: np.ndarray) -> list:
    """Return an array as nested lists of numbers with seven digits, NaN as None."""
    if array.ndim > 1:
        return [listed(part) for part in array]
    return [float(f"{number:.7g}") if np.isfinite(number) else None for number in array.tolist()]


class Plane(NamedTuple):
    """Points in a plane, and the share of the squared distances that they preserve."""

    points: np.ndarray  # (N, 2)
    kept: float


def plane_of(distances: np.ndarray) -> Plane:
    """Return points (N, 2) for distances (N, N), by classical multidimensional scaling.

    Distances of points in a plane are kept exactly. Square roots of Jensen-Shannon divergences are
    distances in a space of more dimensions (Endres and Schindelin 2003), and the plane shows its
    two widest. The share kept is 1 for points of a plane, and if all points coincide. Source:
    Torgerson 1952, "Multidimensional Scaling: I. Theory and Method".
    """
    squares = distances**2
    centred = squares - squares.mean(axis=0)
    centred = (centred.mean(axis=1, keepdims=True) - centred) / 2  # inner products (N, N)
    sizes, directions = np.linalg.eigh((centred + centred.T) / 2)
    sizes = np.maximum(sizes[::-1], 0)
    # A single point has only one direction, so pad to two.
    widest = np.pad(directions[:, ::-1], ((0, 0), (0, 2)))[:, :2]
    points = widest * np.sqrt(np.pad(sizes, (0, 2))[:2])
    largest = np.take_along_axis(points, np.abs(points).argmax(axis=0)[None], axis=0)
    points = points * np.where(largest < 0, -1, 1)  # each axis gets the same sign on every machine
    total = sizes.sum()
    return Plane(points, float(sizes[:2].sum() / total) if total > 0 else 1.0)


def nearest(distances: np.ndarray, index: int, count: int) -> list[int]:
    """Return the `count` indices nearest to `index`, without itself."""
    order = np.argsort(distances[index], kind="stable")
    return [int(other) for other in order if other != index][:count]


def figures_of(reader: Reader, trace: Trace) -> Figures:
    """Return the figures of all heads on one text, as a count of that text would have them.

    Statistics that compare sentences or heads are left out. Raises ValueError if the model cannot
    read the tokens.
    """
    by_kind = {}
    for rows in rows_of(reader, [trace]):
        sums, _ = sums_of(rows, torch.zeros(1, dtype=torch.bool, device=rows.weights.device))
        own = figures(Count({}, sums=sums), rows.kind)
        by_kind[rows.kind] = {
            name: figure.mean for name, figure in own.items() if name not in OF_SEVERAL
        }
    return by_kind


class Standing(NamedTuple):
    """How a sentence's value compares with the values of a corpus's sentences."""

    deviations: float  # distance from the mean, in standard deviations; NaN if these are 0
    tail: float  # the share of sentences at least as far from the mean, on the same side
    is_far: bool  # whether it is more than FAR deviations from the mean
    is_rare: bool  # whether it is outside the range of the share MOST of the sentences


def standing(
    value: float, mean: float, deviation: float, bins: np.ndarray, statistic: Statistic
) -> Standing:
    """Return how a sentence's value compares with the mean, deviation and bins (20,) of others.

    All sentences in the value's own bin count as equally far from the mean.
    """
    share = (value - statistic.low) / (statistic.high - statistic.low)
    own = int(np.clip(share * len(bins), 0, len(bins) - 1))
    above = value >= mean
    tail = float((bins[own:] if above else bins[: own + 1]).sum() / max(bins.sum(), 1))
    deviations = float((value - mean) / deviation) if deviation > 0 else np.nan
    return Standing(deviations, tail, abs(deviations) > FAR, tail <= (1 - MOST) / 2)
