"""Patterns in the weights of one head on one sentence: definitions, scores and badges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from model.trace import Kind

# From weights and visible cells, both (..., Q, K), and their kind to scores from 0 to 1 (...).
Score = Callable[[np.ndarray, np.ndarray, Kind], np.ndarray]


@dataclass(frozen=True)
class Pattern:
    """One way a head can look; a score of `threshold` or more gives it a badge."""

    name: str
    definition: str
    kinds: tuple[Kind, ...]  # where it can occur
    threshold: float
    score: Score


def weight_beside(offset: int) -> Score:
    """Return the mean weight on the key `offset` places after the query, if it has one."""

    def score(weights: np.ndarray, visible: np.ndarray, kind: Kind) -> np.ndarray:
        beside = weights.diagonal(offset, axis1=-2, axis2=-1)  # (..., queries with such a key)
        first = max(0, -offset)
        return mean_where(beside, has_choice(visible)[..., first : first + beside.shape[-1]])

    return score


def weight_on(key: int) -> Score:
    """Return the mean weight of other tokens on one key, counted from the end if negative."""

    def score(weights: np.ndarray, visible: np.ndarray, kind: Kind) -> np.ndarray:
        others = has_choice(visible)
        if kind != "cross":
            others[..., key] = False
        return mean_where(weights[..., key], others)

    return score


def evenness(weights: np.ndarray, visible: np.ndarray, kind: Kind) -> np.ndarray:
    """Return the mean entropy of the rows, as a part of what their visible keys allow."""
    entropy = -(weights * np.log(weights, where=weights > 0, out=np.zeros_like(weights))).sum(-1)
    largest = np.log(visible.sum(axis=-1).clip(min=2))  # (..., Q)
    return mean_where(entropy / largest, has_choice(visible))


def alignment(weights: np.ndarray, visible: np.ndarray, kind: Kind) -> np.ndarray:
    """Lin's concordance of a query's own place with the mean place it looks at.

    Places run from 0 at the first token to 1 at the last. Unlike a correlation, the concordance is
    low for a head that looks at much the same place from everywhere.
    """
    own = np.linspace(0, 1, weights.shape[-2])
    seen = weights @ np.linspace(0, 1, weights.shape[-1])  # (..., Q)
    own_mean, seen_mean = own.mean(), seen.mean(axis=-1)
    shared = ((own - own_mean) * (seen - seen_mean[..., None])).mean(axis=-1)
    apart = own.var() + seen.var(axis=-1) + (own_mean - seen_mean) ** 2
    return 2 * shared / np.maximum(apart, 1e-12)


def has_choice(visible: np.ndarray) -> np.ndarray:
    """Return which queries may look at more than one key: (..., Q, K) -> (..., Q)."""
    return visible.sum(axis=-1) > 1


def mean_where(values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return the mean over the last axis of the chosen values; 0 if there are none."""
    return (values * chosen).sum(axis=-1) / chosen.sum(axis=-1).clip(min=1)


SELF: tuple[Kind, ...] = ("encoder", "decoder")
PATTERNS = (
    Pattern("previous token", "the mean weight on the token just before", SELF, 0.4,
            weight_beside(-1)),
    Pattern("next token", "the mean weight on the token just after", ("encoder",), 0.4,
            weight_beside(1)),
    Pattern("same token", "the mean weight on the token itself", SELF, 0.4, weight_beside(0)),
    Pattern("first token", "a sink: the mean weight of other tokens on the first one",
            (*SELF, "cross"), 0.5, weight_on(0)),
    Pattern("end token", "a sink: the mean weight of other tokens on the end token",
            ("encoder", "cross"), 0.5, weight_on(-1)),
    Pattern("broad", "the mean entropy of the rows, as a part of the largest that their visible "
            "keys allow", (*SELF, "cross"), 0.8, evenness),
    Pattern("diagonal", "the closeness of the mean place looked at to the query's own place, both "
            "from 0 at the first token to 1 at the last (Lin's concordance)", ("cross",), 0.7,
            alignment),
)  # fmt: skip
DEFINITIONS = {
    pattern.name: f"{pattern.definition} is at least {pattern.threshold}." for pattern in PATTERNS
}


def pattern_scores(
    weights: np.ndarray, kind: Kind, visible: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """Return the scores (...), from 0 to 1, of every pattern that weights (..., Q, K) can have.

    `visible`, of the same shape, is True where a query may look; None stands for the masks as
    trained, on a sentence without padding. Queries that may look at one key only, such as the
    decoder's first, have no choice and are left out.
    """
    weights = np.asarray(weights, dtype=np.float64)
    if visible is None:
        visible = np.ones(weights.shape, dtype=bool)
        if kind == "decoder":
            visible = np.tril(visible)
    return {
        pattern.name: pattern.score(weights, visible, kind).clip(0, 1)
        for pattern in PATTERNS
        if kind in pattern.kinds
    }


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
