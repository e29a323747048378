"""Patterns in the weights of one head on one sentence: definitions, scores and badges."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.insight.rows import (
    Rows,
    Score,
    alignment,
    evenness,
    mean_where,
    weight_beside,
    weight_on,
)
from model.trace import Kind


@dataclass(frozen=True)
class Pattern:
    """One way in which a head can look; a score of `threshold` or more gives it a badge."""

    name: str
    definition: str
    kinds: tuple[Kind, ...]  # where it can occur
    threshold: float
    score: Score
    source: str
    lowest: float = 0.0  # of the score of a row


SELF: tuple[Kind, ...] = ("encoder", "decoder")
CLARK = "Clark et al. 2019, What Does BERT Look At?"
PATTERNS = (
    Pattern("previous token", "the mean weight on the token just before", SELF, 0.4,
            weight_beside(-1), f"{CLARK}, 3.1"),
    Pattern("next token", "the mean weight on the token just after", ("encoder",), 0.4,
            weight_beside(1), f"{CLARK}, 3.1"),
    Pattern("same token", "the mean weight on the token itself", SELF, 0.4, weight_beside(0),
            f"{CLARK}, 3.1"),
    Pattern("first token", "a sink: the mean weight of other tokens on the first one",
            (*SELF, "cross"), 0.5, weight_on("first", of_others=True), f"{CLARK}, 3.2"),
    Pattern("end token", "a sink: the mean weight of other tokens on the end token",
            ("encoder", "cross"), 0.5, weight_on("end", of_others=True), f"{CLARK}, 3.2"),
    Pattern("broad", "the mean entropy of the rows, as a part of the largest that their visible "
            "keys allow", (*SELF, "cross"), 0.8, evenness,
            f"{CLARK}, 3.3, as a share"),
    Pattern("diagonal", "the closeness of the mean place looked at to the query's own place, both "
            "from 0 at the first token to 1 at the last (Lin's concordance)", ("cross",), 0.7,
            alignment, "Lin 1989, concordance", lowest=-1.0),
)  # fmt: skip
DEFINITIONS = {
    pattern.name: f"{pattern.definition} is at least {pattern.threshold}." for pattern in PATTERNS
}


def pattern_scores(
    weights: np.ndarray, kind: Kind, visible: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """Return the scores (...), from 0 to 1, of every pattern that weights (..., Q, K) can have.

    `visible`, of the same shape, is True where a query may look; None means the masks as trained,
    on a sentence without padding. Queries that can only look at one key, such as the decoder's
    first, have no choice and are left out.
    """
    given = torch.from_numpy(np.array(weights, dtype=np.float64))
    if visible is None:
        seen = torch.ones(given.shape, dtype=torch.bool)
        seen = seen.tril() if kind == "decoder" else seen
    else:
        seen = torch.from_numpy(np.array(visible, dtype=bool))
    rows = rows_of(given, kind, seen)
    return {
        pattern.name: mean_where(*pattern.score(rows)).clamp(0, 1).numpy()
        for pattern in PATTERNS
        if kind in pattern.kinds
    }


def rows_of(weights: Tensor, kind: Kind, visible: Tensor) -> Rows:
    """Return the rows of one sentence without padding, whose last key is its end."""
    queries, keys = weights.shape[-2:]
    first, end = torch.zeros(2, keys, dtype=torch.bool)
    first[0] = end[-1] = True
    sorts = {"first": first, "end": end}
    there = (torch.ones(size, dtype=torch.bool) for size in (queries, keys))
    return Rows(kind, weights, visible, *there, sorts)


def badges(
    weights: np.ndarray, kind: Kind, visible: np.ndarray | None = None
) -> list[tuple[str, float]]:
    """Return the patterns that the weights (Q, K) of one head follow, the strongest first."""
    scores = pattern_scores(weights, kind, visible)
    found = [
        (pattern.name, float(scores[pattern.name]))
        for pattern in PATTERNS
        if pattern.name in scores and scores[pattern.name] >= pattern.threshold
    ]
    return sorted(found, key=lambda badge: -badge[1])
