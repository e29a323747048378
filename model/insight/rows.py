"""Scores of rows of attention weights, one number per row, for heads' badges and the Atlas page.

A score takes rows, and returns a number for each row and whether this number is defined. Any
leading dimensions are allowed: layers, sentences, heads. A pattern is a score, with the threshold
from which on a head gets a badge.
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
    """The weights of some queries on keys; all tensors broadcast against the weights."""

    kind: Kind
    weights: Tensor  # (..., Q, K)
    visible: Tensor  # (..., Q, K) bool
    queries: Tensor  # (..., Q) bool: True for queries that are no padding
    present: Tensor  # (..., K) bool: True for keys that are no padding
    keys: Mapping[str, Tensor]  # (..., K) bool: the keys of a group, such as "first" or "end"

    @cached_property
    def choice(self) -> Tensor:
        """The queries (..., Q) that see several keys; only their weights depend on the head."""
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
        """Each key's position minus each query's: (Q, K)."""
        queries, keys = (
            torch.arange(size, device=self.weights.device) for size in self.weights.shape[-2:]
        )
        return keys - queries[:, None]

    def has_key_at(self, offset: int) -> Tensor:
        """Return which queries (..., Q) see several keys and have one `offset` positions ahead."""
        keys = self.weights.size(-1)
        neighbours = torch.arange(self.weights.size(-2), device=self.weights.device) + offset
        inside = (neighbours >= 0) & (neighbours < keys)
        return inside & self.present[..., neighbours.clamp(0, keys - 1)] & self.choice


# Returns the score of each row, and the rows for which it is defined: both broadcast to (..., Q).
Score = Callable[[Rows], tuple[Tensor, Tensor]]


def entropy(rows: Rows) -> tuple[Tensor, Tensor]:
    return rows.entropy, rows.choice


def evenness(rows: Rows) -> tuple[Tensor, Tensor]:
    """Return the entropy as a share of its maximum over the visible keys."""
    return rows.entropy / rows.visible.sum(dim=-1).clamp(min=2).log(), rows.choice


def confidence(rows: Rows) -> tuple[Tensor, Tensor]:
    """Return the largest weight of each row; the end token counts neither as query nor as key."""
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
    """Return the weight on a group of keys; with `of_others`, queries in the group do not count."""

    def score(rows: Rows) -> tuple[Tensor, Tensor]:
        sorted_keys = rows.keys[sort]
        leaves_out = of_others and rows.kind != "cross"
        chosen = rows.choice & ~sorted_keys if leaves_out else rows.choice
        # The score is not defined for a sentence without a key of the group.
        exists = sorted_keys.any(dim=-1, keepdim=True)
        weights = sorted_keys.to(rows.weights)[..., None]  # (..., K, 1)
        return (rows.weights @ weights)[..., 0], chosen & exists

    return score


def distance(rows: Rows) -> tuple[Tensor, Tensor]:
    """Return the distance of keys from the query, averaged by their weights, in tokens."""
    return (rows.weights * rows.offsets.abs()).sum(dim=-1), rows.choice


def squared_distance(rows: Rows) -> tuple[Tensor, Tensor]:
    """Return the squared distance of keys from the query, averaged by their weights."""
    return (rows.weights * rows.offsets.square()).sum(dim=-1), rows.choice


def top_at_offset(offset: int) -> Score:
    """Return 1 if the largest weight is on the key `offset` positions after the query, else 0."""

    def score(rows: Rows) -> tuple[Tensor, Tensor]:
        neighbours = torch.arange(rows.weights.size(-2), device=rows.weights.device) + offset
        return (rows.top == neighbours).to(rows.weights), rows.has_key_at(offset)

    return score


def alignment(rows: Rows) -> tuple[Tensor, Tensor]:
    """Return Lin's concordance of queries' positions and the mean positions they look at: (..., 1).

    Positions run from 0 at the first token to 1 at the last. Unlike a correlation, the concordance
    is low for a head whose queries all look at nearly the same position. Rows that see nothing
    count, too: they look at position 0. Source: Lin 1989, "A Concordance Correlation Coefficient
    to Evaluate Reproducibility".
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
    """Return the mean of the chosen values over the last axis; 0 if none are chosen."""
    chosen = chosen.to(values)
    return (values * chosen).sum(dim=-1) / chosen.sum(dim=-1).clamp(min=1)


@dataclass(frozen=True)
class Pattern:
    """A way of attending; a head whose score is `threshold` or more gets a badge."""

    name: str
    definition: str
    kinds: tuple[Kind, ...]  # the kinds of attention in which this pattern can occur
    threshold: float
    score: Score
    source: str
    lowest: float = 0.0  # the lowest score that a row can have by this pattern


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
    """Return the score (...), from 0 to 1, of every pattern that can occur in weights (..., Q, K).

    `visible`, of the same shape, is True where a query may see a key; None means the masks that the
    model was trained with, on a sentence without padding. Queries that see only one key, such as
    the decoder's first, are left out.
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
    """Return the rows of one sentence without padding, whose last key is the end token."""
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
