"""The stages of attention before the softmax, in code that computes them one by one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from headlight.model.attention import PLAIN, fit_bias, fit_cells
from headlight.model.library.flow import CLOSED, Mixing, Scores
from headlight.model.trace import AttentionEdit, AttentionRecord


@dataclass(frozen=True)
class Stages:
    """The stages before a softmax, (B, H, ...), as far as they are known."""

    masked_scores: Tensor
    scores: Tensor | None = None
    query: Tensor | None = None
    key: Tensor | None = None
    scale: float | None = None
    bias: Tensor | None = None
    changed: bool = False

    @classmethod
    def of(cls, given: Tensor, cells: Tensor, heads: int, origin: Scores | Mixing | None) -> Stages:
        """Return the stages of given scores from their origin; `cells` are they by heads."""
        masked_scores = cells.masked_fill(cells < CLOSED, -torch.inf)
        if not isinstance(origin, Scores) or origin.lost:
            return cls(masked_scores)
        scores = by_heads(given if origin.unmasked is None else origin.unmasked, heads)
        if scores.shape != cells.shape:  # as of blocks
            return cls(masked_scores)
        query, key = (like(cells, part, heads) for part in (origin.query, origin.key))
        if origin.scale is None or query is None or key is None:
            return cls(masked_scores, scores)
        product = query @ key.transpose(-2, -1) * origin.scale if origin.biased else None
        bias = None if product is None else scores - product
        return cls(masked_scores, scores, query, key, origin.scale, bias)

    def edited(self, edit: AttentionEdit, first_query: int, first_key: int) -> Stages:
        """Return the stages under an edit; see `model.attention.attend`."""
        stages, masked_scores, scores = self, self.masked_scores, self.scores
        bias = fit_bias(edit, first_query, masked_scores, first_key)
        if edit.scale is not None or edit.steps is not None:
            scale = self.scale if edit.scale is None else edit.scale
            scores = (edit.steps or PLAIN).products(self.query, self.key) * scale
            scores = scores if self.bias is None else scores + self.bias
            masked_scores = scores.masked_fill(masked_scores.isneginf(), -torch.inf)
            stages = replace(stages, scale=scale)
        size = (first_query, *masked_scores.shape[-2:], first_key)
        if edit.open is not None:
            cells = fit_cells(edit.open.to(scores.device), *size)
            masked_scores = torch.where(cells, scores, masked_scores)
        if edit.block is not None:
            cells = fit_cells(edit.block.to(masked_scores.device), *size)
            masked_scores = masked_scores.masked_fill(cells, -torch.inf)
        if bias is not None:
            masked_scores = masked_scores + bias
            scores = None if scores is None else scores + bias
            if self.query is not None:
                bias = bias if self.bias is None else self.bias + bias
                stages = replace(stages, bias=bias)
        if edit.steps is not None:
            masked_scores = edit.steps.mask(masked_scores)
        changed = masked_scores is not self.masked_scores
        return replace(stages, masked_scores=masked_scores, scores=scores, changed=changed)

    def record(self, weights: Tensor) -> AttentionRecord:
        return AttentionRecord(
            self.query, self.key, None, self.scores, self.masked_scores, weights, None,
            scale=self.scale, bias=self.bias,
        )  # fmt: skip


def by_heads(part: Tensor, heads: int) -> Tensor:
    """Return scores or queries as (B, H, ...), from (B * H, ...) or groups (B, G, H / G, ...)."""
    if part.dim() < 4:
        part = part if part.dim() == 3 else part[None]
        return part.unflatten(0, (-1, heads)) if len(part) % heads == 0 else part
    return part.flatten(1, -3)


def like(cells: Tensor, part: Tensor, heads: int) -> Tensor | None:
    """Return queries, keys, values or heads as (B, H, T, D), if they fit cells (B, H, Q, K)."""
    if part.dim() == 5:  # keys that a group of heads shares
        part = part.expand(-1, -1, cells.size(1) // part.size(1), -1, -1)
    part = by_heads(part, heads)
    fits = part.dim() == 4 and all(
        size in (1, wanted) for size, wanted in zip(part.shape, cells.shape[:2], strict=False)
    )
    return part.expand(*cells.shape[:2], -1, -1) if fits else None
