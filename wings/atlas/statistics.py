"""The statistics of every head over a corpus: definitions, units and sources, and the sums."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from headlight.model.insight.rows import (
    CLARK,
    PATTERNS,
    Rows,
    Score,
    confidence,
    distance,
    entropy,
    squared_distance,
    top_at_offset,
    weight_on,
)
from headlight.model.shape import SELF
from headlight.model.transformer.trace import KINDS, Kind, MaybeNone

BINS = 20
OFFSETS = tuple(range(-3, 4))
POSITIONAL = 0.9
FIRST = 10  # weights among this many first tokens are compared between sentences
VOITA = "Voita et al. 2019, Analyzing Multi-Head Self-Attention"
MICHEL = "Michel et al. 2019, Are Sixteen Heads Really Better than One?"
VIG = "Vig and Belinkov 2019, Analyzing the Structure of Attention in a Transformer Language Model"
HERE = "this project"

Sums = dict[str, np.ndarray]  # keys are like "encoder/entropy/rows"; sums of texts are added up


@dataclass(frozen=True)
class Statistic:
    """A figure of every head: its meaning, its unit, and the source of its definition.

    `score` gives one number a row, and the figure is its mean over all rows of the corpus for which
    it is defined. A statistic without a score is computed from other sums.
    """

    name: str
    words: str
    unit: str
    kinds: tuple[Kind, ...]
    source: str
    score: Score | MaybeNone = None
    low: float = 0.0  # where the first bin begins in which sentences are counted
    high: float = 1.0


BADGES = {pattern.name: pattern for pattern in PATTERNS}
STATISTICS = (
    Statistic("entropy", "the mean entropy of the rows", "nats", KINDS, f"{CLARK}, 3.3", entropy,
              high=6.0),
    Statistic("confidence", "the mean largest weight of the rows, without the end token as query "
              "or key", "share", KINDS, f"{VOITA}, 4", confidence),
    *(
        Statistic(pattern.name, pattern.definition, "share", pattern.kinds, pattern.source,
                  pattern.score, low=pattern.lowest)
        for pattern in PATTERNS
    ),
    Statistic("special tokens", "the mean weight on start, end and separating tokens", "share",
              KINDS, f"{CLARK}, 3.2", weight_on("special")),
    Statistic("punctuation", "the mean weight on tokens of only punctuation", "share", KINDS,
              f"{CLARK}, 3.2", weight_on("punctuation")),
    Statistic("distance", "the mean distance of keys from their query, by weight", "tokens", SELF,
              VIG, distance, high=20.0),
    Statistic("squared distance", "the mean squared distance of keys from their query, by "
              "weight", "tokens squared", SELF, HERE, squared_distance, high=400.0),
)  # fmt: skip
MADE_OF_SUMS = (
    Statistic("spread of distance", "the standard deviation of the distance of keys from their "
              "query, by weight, over all rows", "tokens", SELF, HERE),
    Statistic("positional", f"the share of rows whose largest weight is at the same distance from "
              f"the query, for the commonest distance from {OFFSETS[0]} to {OFFSETS[-1]}; from "
              f"{POSITIONAL} on, the head is called positional", "share", SELF, f"{VOITA}, 5.1"),
    Statistic("variability", f"how much the weights of the first {FIRST} tokens on each other "
              f"differ between sentences of {FIRST} tokens or more: the sum of their standard "
              "deviations, divided by twice the sum of their means (the source has mean absolute "
              "deviations, which cannot be merged)", "share", KINDS, VIG),
    Statistic("distance to other heads", "the mean Jensen-Shannon divergence of the head's rows "
              "from those of each other head of its kind, over the first 200 lines and every tenth "
              "line after them",
              "nats", KINDS, f"{CLARK}, 6"),
)  # fmt: skip
ALL = (*STATISTICS, *MADE_OF_SUMS)


def per_sentence(statistic: Statistic, rows: Rows) -> tuple[Tensor, Tensor]:
    """Sum a statistic over rows (L, B, H, Q, K); return sums and numbers of rows: (L, B, H)."""
    values, chosen = statistic.score(rows)
    total = torch.where(chosen, values, 0).sum(dim=-1, dtype=torch.float64)
    return total, chosen.sum(dim=-1).expand_as(total)


def sums_of_scores(statistic: Statistic, total: Tensor, count: Tensor) -> dict[str, Tensor]:
    """Return sums over sentences, from the sum and the number of rows (L, B, H) of each sentence.

    "sum" and "rows" are over rows; "means", "squares", "sentences" and "bins" are over the
    sentences' own means.
    """
    there = count > 0
    mean = total / count.clamp(min=1)
    scaled = (mean - statistic.low) / (statistic.high - statistic.low) * BINS
    heads = torch.arange(mean[:, 0].numel(), device=mean.device).view(len(mean), 1, -1)
    binned = heads * BINS + scaled.long().clamp(0, BINS - 1)
    bins = torch.bincount(binned[there], minlength=heads.numel() * BINS)
    return {
        "sum": total.sum(dim=1),
        "rows": count.sum(dim=1).double(),
        "means": mean.sum(dim=1),  # 0 for a sentence without rows
        "squares": mean.square().sum(dim=1),
        "sentences": there.sum(dim=1).double(),
        "bins": bins.view(*heads.shape[::2], BINS).double(),
    }


def sums_of_offsets(rows: Rows) -> dict[str, Tensor]:
    """Count how often the largest weight of a row is at each of OFFSETS: each (L, H, offsets).

    The sum "rows" counts the rows that have a key at this offset."""
    scores = [top_at_offset(offset)(rows) for offset in OFFSETS]
    hits = [(hit * chosen).sum(dim=-1, dtype=torch.float64).sum(dim=1) for hit, chosen in scores]
    counts = [chosen.sum(dim=-1).sum(dim=1).expand_as(hits[0]) for _, chosen in scores]
    return {"sum": torch.stack(hits, dim=-1), "rows": torch.stack(counts, dim=-1).double()}


def sums_of_first_cells(rows: Rows) -> dict[str, Tensor]:
    """Sum the first tokens' weights on each other, and their squares, each (L, H, N, N)."""
    long = (rows.queries.sum(dim=-1) >= FIRST) & (rows.present.sum(dim=-1) >= FIRST)  # (B, 1)
    cells = rows.weights[:, long[:, 0], :, :FIRST, :FIRST].double()
    if not cells.size(1):
        cells = cells.new_zeros(len(cells), 0, cells.size(2), FIRST, FIRST)
    return {
        "sum": cells.sum(dim=1),
        "squares": cells.square().sum(dim=1),
        "sentences": long.sum().double(),
    }


def sums_of_divergences(rows: Rows, chosen: Tensor) -> dict[str, Tensor]:
    """Return the Jensen-Shannon divergence of any two heads, summed over rows: (L * H, L * H).

    `chosen` (B,) says which sentences are counted. The divergence of two rows is the entropy of
    their mean minus the mean of their entropies.
    """
    taken = (rows.choice.any(dim=(0, 2)) & chosen[:, None]).nonzero(
        as_tuple=True
    )  # (sentence, query) of each row counted
    weights = rows.weights.permute(0, 2, 1, 3, 4)[:, :, taken[0], taken[1]]
    weights = weights.flatten(0, 1)  # (L * H, rows, K)
    entropies = torch.special.entr(weights).sum(dim=(1, 2), dtype=torch.float64)
    apart = entropies.new_zeros(len(weights), len(weights))
    for head in range(len(weights) - 1):
        middle = (weights[head] + weights[head + 1 :]) / 2
        mixed = torch.special.entr(middle).sum(dim=(1, 2), dtype=torch.float64)
        apart[head, head + 1 :] = mixed - (entropies[head] + entropies[head + 1 :]) / 2
    return {"sum": apart + apart.T, "rows": torch.tensor(float(len(taken[0])))}


def sums_of(rows: Rows, compared: Tensor) -> tuple[Sums, Mapping[str, tuple[Tensor, Tensor]]]:
    """Return all sums over a batch of weights (L, B, H, Q, K), and each sentence's own sums.

    Heads are compared with each other only in sentences where `compared` (B,) is True.
    """
    scored = {
        statistic.name: (statistic, *per_sentence(statistic, rows))
        for statistic in STATISTICS
        if rows.kind in statistic.kinds
    }
    parts = {name: sums_of_scores(*scores) for name, scores in scored.items()}
    if rows.kind in SELF:
        parts["positional"] = sums_of_offsets(rows)
    parts["variability"] = sums_of_first_cells(rows)
    parts["distance to other heads"] = sums_of_divergences(rows, compared)
    sums = {
        f"{rows.kind}/{name}/{part}": tensor.cpu().numpy()
        for name, tensors in parts.items()
        for part, tensor in tensors.items()
    }
    return sums, {name: (total, count) for name, (_, total, count) in scored.items()}


def add(sums: Sums, more: Sums) -> Sums:
    """Add two sets of sums; an entry that one of them lacks counts as 0."""
    return {
        name: sums[name] + more[name] if name in sums and name in more else
        (sums if name in sums else more)[name]
        for name in sorted({*sums, *more})
    }  # fmt: skip
