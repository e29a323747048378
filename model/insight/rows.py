"""Scores of rows of attention weights, one number per row: the definitions of badges and atlas.

A score takes rows and returns a number for each row, and whether the score is defined there. Any
leading dimensions are allowed: layers, sentences, heads. A pattern is a score with the threshold of
a badge.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from headlight.model.shape import SELF
from headlight.model.transformer.trace import Kind


@dataclass(frozen=True)
class Rows:
    """Weights with their queries and keys; all parts broadcast against the weights.

    `keys` says which keys belong to a group: "first", "end", and others if tokens are known.
    """

    kind: Kind
    weights: Tensor  # (..., Q, K)
    visible: Tensor  # (..., Q, K) bool
    queries: Tensor  # (..., Q) bool: those that are no padding
    present: Tensor  # (..., K) bool: keys that are none
    keys: Mapping[str, Tensor]  # (..., K) bool each

    @cached_property
    def choice(self) -> Tensor:
        """Which queries may look at more than one key (..., Q); others say nothing about a head."""
        return (self.visible.sum(dim=-1) > 1) & self.queries

    @cached_property
    def entropy(self) -> Tensor:
        """The entropy of each row (..., Q), in nats."""
        return torch.special.entr(self.weights).sum(dim=-1)

    @cached_property
    def top(self) -> Tensor:
        """The key with the largest weight of each row (..., Q)."""
        return self.weights.argmax(dim=-1)

    @cached_property
    def offsets(self) -> Tensor:
        """The distance of each key after each query (Q, K)."""
        queries, keys = (
            torch.arange(size, device=self.weights.device) for size in self.weights.shape[-2:]
        )
        return keys - queries[:, None]

    def has_key_at(self, offset: int) -> Tensor:
        """Return which queries have a key `offset` positions after them (..., Q)."""
        keys = self.weights.size(-1)
        neighbours = torch.arange(self.weights.size(-2), device=self.weights.device) + offset
        inside = (neighbours >= 0) & (neighbours < keys)
        return inside & self.present[..., neighbours.clamp(0, keys - 1)] & self.choice


# The value of each row, and which rows it is defined for: both broadcast to (..., Q).
Score = Callable[[Rows], tuple[Tensor, Tensor]]


def entropy(rows: Rows) -> tuple[Tensor, Tensor]:
    return rows.entropy, rows.choice


def evenness(rows: Rows) -> tuple[Tensor, Tensor]:
    """Return the entropy as a share of its maximum over the visible keys."""
    return rows.entropy / rows.visible.sum(dim=-1).clamp(min=2).log(), rows.choice


def confidence(rows: Rows) -> tuple[Tensor, Tensor]:
    """Return the largest weight, with the end token left out as query and as key."""
    end = rows.keys["end"]
    chosen = rows.choice if rows.kind == "cross" else rows.choice & ~end
    return rows.weights.masked_fill(end[..., None, :], 0.0).amax(dim=-1), chosen


def weight_at_offset(offset: int) -> Score:
    """Return the weight on the key `offset` positions after the query, if it exists."""

    def score(rows: Rows) -> tuple[Tensor, Tensor]:
        first, count = max(0, -offset), rows.weights.size(-2)
        diagonal = rows.weights.diagonal(offset, dim1=-2, dim2=-1)
        after = count - first - diagonal.size(-1)
        return F.pad(diagonal, (first, after)), rows.has_key_at(offset)

    return score


def weight_on(sort: str, *, of_others: bool = False) -> Score:
    """Return the weight on keys of a group, optionally only on other tokens than the query."""

    def score(rows: Rows) -> tuple[Tensor, Tensor]:
        sorted_keys = rows.keys[sort]
        leaves_out = of_others and rows.kind != "cross"
        chosen = rows.choice & ~sorted_keys if leaves_out else rows.choice
        # Without any such key the score is not defined.
        exists = sorted_keys.any(dim=-1, keepdim=True)
        weights = sorted_keys.to(rows.weights)[..., None]  # (..., K, 1)
        return (rows.weights @ weights)[..., 0], chosen & exists

    return score


def distance(rows: Rows) -> tuple[Tensor, Tensor]:
    """Return the mean distance of the keys that are looked at, in tokens."""
    return (rows.weights * rows.offsets.abs()).sum(dim=-1), rows.choice


def squared_distance(rows: Rows) -> tuple[Tensor, Tensor]:
    """Return the mean squared distance of the keys that are looked at, in tokens squared."""
    return (rows.weights * rows.offsets.square()).sum(dim=-1), rows.choice


def top_at_offset(offset: int) -> Score:
    """Return 1 if the largest weight is `offset` positions after the query, else 0."""

    def score(rows: Rows) -> tuple[Tensor, Tensor]:
        neighbours = torch.arange(rows.weights.size(-2), device=rows.weights.device) + offset
        return (rows.top == neighbours).to(rows.weights), rows.has_key_at(offset)

    return score


def alignment(rows: Rows) -> tuple[Tensor, Tensor]:
    """Return Lin's concordance of a query's position with the mean position it looks at: (..., 1).

    Positions run from 0 at the first token to 1 at the last. Unlike a correlation, the concordance
    is low for a head that looks at much the same position from everywhere. Rows that see nothing
    count, since they look nowhere. Source: Lin 1989, "A Concordance Correlation Coefficient to
    Evaluate Reproducibility".
    """
    present = rows.queries.to(rows.weights)
    count = present.sum(dim=-1, keepdim=True)  # (..., 1)
    own = relative_positions(present)
    keys = relative_positions(rows.present.to(rows.weights))  # (..., K)
    seen = (rows.weights @ keys[..., None])[..., 0]  # (..., Q)

    def mean(values: Tensor) -> Tensor:
        return (values * present).sum(dim=-1, keepdim=True) / count

    own_apart, seen_apart = own - mean(own), seen - mean(seen)
    shared = mean(own_apart * seen_apart)
    apart = mean(own_apart.square()) + mean(seen_apart.square()) + (mean(own) - mean(seen)) ** 2
    return 2 * shared / apart.clamp(min=1e-12), count > 1


def relative_positions(present: Tensor) -> Tensor:
    """Return the relative position of each token (..., T), from 0 at the first to 1 at the last.

    `present` (..., T) is 1 for the first tokens, and 0 for padding after them.
    """
    numbers = torch.arange(present.size(-1), device=present.device)
    return numbers / (present.sum(dim=-1, keepdim=True) - 1).clamp(min=1)


def mean_where(values: Tensor, chosen: Tensor) -> Tensor:
    """Return the mean over the last axis of the chosen values; 0 if there are none."""
    chosen = chosen.to(values)
    return (values * chosen).sum(dim=-1) / chosen.sum(dim=-1).clamp(min=1)


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


CLARK = "Clark et al. 2019, What Does BERT Look At?"
PATTERNS = (
    Pattern("previous token", "the mean weight on the token just before", SELF, 0.4,
            weight_at_offset(-1), f"{CLARK}, 3.1"),
    Pattern("next token", "the mean weight on the token just after", ("encoder",), 0.4,
            weight_at_offset(1), f"{CLARK}, 3.1"),
    Pattern("same token", "the mean weight on the token itself", SELF, 0.4, weight_at_offset(0),
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
    tensor = torch.from_numpy(np.array(weights, dtype=np.float64))
    if visible is None:
        seen = torch.ones(tensor.shape, dtype=torch.bool)
        seen = seen.tril() if kind == "decoder" else seen
    else:
        seen = torch.from_numpy(np.array(visible, dtype=bool))
    rows = rows_of(tensor, kind, seen)
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
    present = torch.ones(queries, dtype=torch.bool), torch.ones(keys, dtype=torch.bool)
    return Rows(kind, weights, visible, *present, sorts)


def badges(
    weights: np.ndarray, kind: Kind, visible: np.ndarray | None = None
) -> list[tuple[str, float]]:
    """Return the patterns that the weights (Q, K) of one head follow, the strongest first."""
    scores = pattern_scores(weights, kind, visible)
    patterns = [
        (pattern.name, float(scores[pattern.name]))
        for pattern in PATTERNS
        if pattern.name in scores and scores[pattern.name] >= pattern.threshold
    ]
    return sorted(patterns, key=lambda badge: -badge[1])
