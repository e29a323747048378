"""Edits of attention: gates, closed and opened cells, biases, a scale, and given weights."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional as F

from headlight.model.transformer.attention import Edit
from headlight.model.transformer.trace import ByShape


@dataclass(frozen=True, repr=False)
class AttentionEdit(Edit, ByShape):
    """The changes in one attention block; a field that is None changes nothing.

    Cells, biases and weights are given for one text, from its first token on. Decoding cuts them
    for shorter texts; for longer ones, cells and biases are padded with False and 0.
    """

    gate: Tensor | None = None  # (H,) or (B, H): 1 keeps a head, 0 removes it, others fade it
    block: Tensor | None = None  # (Q, K) or (H, Q, K) bool: True closes a cell
    open: Tensor | None = None  # (Q, K) or (H, Q, K) bool: True opens a cell that the mask closes
    bias: Tensor | None = None  # (H, Q, K): added to the scores before the softmax
    scale: float | None = None  # the factor on query · key, in place of 1 / sqrt(D)
    weights: Tensor | None = None  # (Q, K), (H, Q, K) or (B, H, Q, K): replace the weights

    @property
    def batch(self) -> int:
        rows = 1 if self.gate is None or self.gate.dim() == 1 else len(self.gate)
        cells = (self.block, self.open, self.weights)
        return max([rows, *(len(part) for part in cells if part is not None and part.dim() == 4)])

    def at(self, first_query: int, first_key: int = 0) -> AttentionEdit:
        parts = {name: getattr(self, name) for name in ("block", "open", "bias", "weights")}
        rest = {
            name: part[..., first_query:, first_key:]
            for name, part in parts.items()
            if part is not None
        }
        return replace(self, **rest)

    def bias_of(self, scores: Tensor) -> Tensor | None:
        return None if self.bias is None else fitted(self.bias, scores).to(scores)

    def mask(self, scores: Tensor, visible: Tensor | None) -> Tensor:
        return super().mask(scores, self.visible(scores, visible))

    def visible(self, scores: Tensor, visible: Tensor | None) -> Tensor | None:
        """Return the mask after the edit: opened cells are visible, closed ones are not."""
        if self.open is not None and visible is not None:
            visible = visible | fitted(self.open, scores)
        if self.block is not None:
            closed = fitted(self.block, scores)
            visible = ~closed if visible is None else visible & ~closed
        return visible

    def reweigh(self, weights: Tensor) -> Tensor:
        """Return the given weights instead of `weights` (B, H, Q, K), in the same shape.

        Raises ValueError if they are given for fewer queries or keys.
        """
        if self.weights is None:
            return weights
        queries, keys = weights.shape[-2:]
        if self.weights.size(-2) < queries or self.weights.size(-1) < keys:
            raise ValueError(
                f"The weights given for {self.weights.size(-2)} queries and "
                f"{self.weights.size(-1)} keys cannot replace those for {queries} and {keys}. Take "
                "them from a text of the same length."
            )
        return self.weights[..., :queries, :keys].to(weights).expand_as(weights)

    def mix(self, weights: Tensor, value: Tensor) -> Tensor:
        heads = super().mix(weights, value)
        return heads if self.gate is None else heads * self.gate.to(heads)[..., None, None]


AS_TRAINED = AttentionEdit()


@dataclass
class Further(Edit):
    """The base of edits that wrap another edit, make its changes, and can add more."""

    edit: Edit

    @property
    def scale(self) -> float | None:
        return self.edit.scale

    @property
    def batch(self) -> int:
        return self.edit.batch

    def at(self, first_query: int, first_key: int = 0) -> Edit:
        return replace(self, edit=self.edit.at(first_query, first_key))

    def score(self, query: Tensor, key: Tensor, scale: float) -> Tensor:
        return self.edit.score(query, key, scale)

    def bias_of(self, scores: Tensor) -> Tensor | None:
        return self.edit.bias_of(scores)

    def mask(self, scores: Tensor, visible: Tensor | None) -> Tensor:
        return self.edit.mask(scores, visible)

    def reweigh(self, weights: Tensor) -> Tensor:
        return self.edit.reweigh(weights)

    def mix(self, weights: Tensor, value: Tensor) -> Tensor:
        return self.edit.mix(weights, value)


@dataclass
class Closed(Further):
    """An edit that closes cells in addition to another edit; texts of a batch can differ."""

    cells: Tensor  # (B, H or 1, Q, K) bool

    @property
    def batch(self) -> int:
        return max(len(self.cells), super().batch)

    def mask(self, scores: Tensor, visible: Tensor | None) -> Tensor:
        return super().mask(scores, visible).masked_fill(self.cells.to(scores.device), -torch.inf)


@dataclass
class OfHead(Further):
    """An edit of all heads for a module that computes only one of them.

    The module's scores, weights and values (B, 1, ...) are repeated for all heads and given to the
    edit. Then the module's own head is taken from the result.
    """

    head: int
    heads: int

    def score(self, query: Tensor, key: Tensor, scale: float) -> Tensor:
        return self.own(super().score(self.all(query), self.all(key), scale))

    def bias_of(self, scores: Tensor) -> Tensor | None:
        bias = super().bias_of(self.all(scores))
        return None if bias is None else self.own(bias.expand_as(self.all(scores)))

    def mask(self, scores: Tensor, visible: Tensor | None) -> Tensor:
        return self.own(super().mask(self.all(scores), visible))

    def reweigh(self, weights: Tensor) -> Tensor:
        return self.own(super().reweigh(self.all(weights)))

    def mix(self, weights: Tensor, value: Tensor) -> Tensor:
        return self.own(super().mix(self.all(weights), self.all(value)))

    def all(self, part: Tensor) -> Tensor:
        return part.expand(-1, self.heads, -1, -1)

    def own(self, part: Tensor) -> Tensor:
        return part[:, self.head : self.head + 1]


def of_head(edit: Edit, head: int, heads: int) -> Edit:
    """Return the part of an edit of `heads` heads that changes the one head of a module."""
    own = slice(head, head + 1)
    if isinstance(edit, Closed):
        cells = edit.cells if edit.cells.size(1) == 1 else edit.cells[:, own]
        return replace(edit, edit=of_head(edit.edit, head, heads), cells=cells)
    if type(edit) is not AttentionEdit:
        return edit if type(edit) is Edit else OfHead(edit, head, heads)
    parts = {name: getattr(edit, name) for name in ("block", "open", "bias", "weights")}
    rest = {
        name: part if part is None or part.dim() < 3 else part[..., own, :, :]
        for name, part in parts.items()
    }
    return replace(edit, gate=None if edit.gate is None else edit.gate[..., own], **rest)


def replaces_steps(edit: Edit) -> bool:
    """Return whether an edit's class may change any step, not only as `AttentionEdit` does."""
    while isinstance(edit, Closed):
        edit = edit.edit
    return type(edit) not in (Edit, AttentionEdit)


def fitted(cells: Tensor, scores: Tensor) -> Tensor:
    """Return cells (..., Q, K), cut or padded to fit scores (B, H, Q, K), on their device."""
    return fit_cells(cells, *scores.shape[-2:]).to(scores.device)


def fit_cells(cells: Tensor, queries: int, keys: int) -> Tensor:
    """Return cells (..., Q, K) cut or padded with False or 0 to this many queries and keys."""
    cells = cells[..., :queries, :keys]
    return F.pad(cells, (0, keys - cells.size(-1), 0, queries - cells.size(-2)))
