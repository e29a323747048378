"""The stages of attention before the softmax, in code that computes them one by one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from headlight.model.library.flow import CLOSED, Mixing, Scores
from headlight.model.library.layouts import Layout
from headlight.model.transformer.attention import PLAIN, fit_bias, fit_cells
from headlight.model.transformer.trace import AttentionEdit, AttentionRecord


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
    def of(
        cls, given: Tensor, cells: Tensor, layout: Layout, origin: Scores | Mixing | None
    ) -> Stages:
        """Return the stages of given scores from their origin; `cells` are they by heads."""
        masked_scores = cells.masked_fill(cells < CLOSED, -torch.inf)
        if not isinstance(origin, Scores) or origin.lost or cells.numel() != given.numel():
            return cls(masked_scores)
        scores = layout.maps(given if origin.unmasked is None else origin.unmasked)
        if origin.scale is None:
            return cls(masked_scores, scores)
        query = layout.queries(origin.query, given.shape)
        key = layout.keys(origin.key, given.shape)
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
