"""The stages of attention before the softmax, in models that compute them in their own code."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from headlight.model.edits.attention import replaces_steps
from headlight.model.library.flow import CLOSED, Origin, Scores
from headlight.model.library.layouts import Layout
from headlight.model.transformer.attention import UNCHANGED, Edit
from headlight.model.transformer.trace import AttentionRecord, MaybeNone


@dataclass(frozen=True)
class Stages:
    """The stages before a softmax, each (B, H, ...); None if a stage is not known."""

    masked_scores: Tensor
    scores: Tensor | None = None
    query: Tensor | MaybeNone = None
    key: Tensor | MaybeNone = None
    scale: float | MaybeNone = None
    bias: Tensor | None = None
    changed: bool = False

    @classmethod
    def of(cls, given: Tensor, cells: Tensor, layout: Layout, origin: Origin | None) -> Stages:
        """Return the stages of scores whose origin was traced; `cells` are the scores by head."""
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

    def edited(self, edit: Edit) -> Stages:
        """Return the stages as an edit changes them; see model/transformer/attention.py."""
        if edit is UNCHANGED:
            return self
        stages, scores, visible = self, self.scores, ~self.masked_scores.isneginf()
        if edit.scale is not None or replaces_steps(edit):
            scale = self.scale if edit.scale is None else edit.scale
            scores = edit.score(self.query, self.key, scale)
            before = scores = scores if self.bias is None else scores + self.bias
            stages = replace(stages, scale=scale)
        elif scores is None:
            before = self.masked_scores
        else:
            before = torch.where(visible, self.masked_scores, scores)
        bias = edit.bias_of(before)
        if bias is not None:
            before = before + bias
            scores = None if scores is None else scores + bias
            if self.query is not None:
                bias = bias if self.bias is None else self.bias + bias
                stages = replace(stages, bias=bias)
        masked_scores = edit.mask(before, visible)
        changed = not torch.equal(masked_scores, self.masked_scores)
        return replace(stages, masked_scores=masked_scores, scores=scores, changed=changed)

    def record(self, weights: Tensor) -> AttentionRecord:
        return AttentionRecord(
            self.query, self.key, None, self.scores, self.masked_scores, weights, None,
            scale=self.scale, bias=self.bias,
        )  # fmt: skip
