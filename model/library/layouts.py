"""Find and use the layout of scores: the axes of their texts, heads, queries and keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from headlight.model.library.flow import CLOSED

NEAR = 1e-3  # changes below this share of the largest change count as rounding


@dataclass(frozen=True)
class Layout:
    """The axes of scores: `order` has the axes of texts, heads, queries and keys, in this order."""

    order: tuple[int, ...]
    heads: int = 1  # the number of heads that share an axis with the texts
    heads_first: bool = False  # True if that axis goes through all texts of a head, head by head

    @classmethod
    def assumed(cls, cells: Tensor, rows: int) -> Layout:
        """Return the usual layout: (B, H, Q, K), (B, G, H / G, Q, K) or (B * H, Q, K)."""
        folded = cells.dim() < 4
        return cls((*range(cells.dim()),), max(1, len(cells) // rows) if folded else 1)

    def maps(self, part: Tensor) -> Tensor:
        """Return a tensor with the axes of scores, and maybe more at its end, as (B, H, Q, K, ...).

        Raises ValueError if the axes are not those of the scores that were tried out.
        """
        # return the tensor itself, so that it keeps its gradient
        if self == FIXED and part.dim() == 4:
            return part
        part = part.permute(*self.order, *range(len(self.order), part.dim()))
        leading = max(len(self.order) - 2, 1)
        part = part if len(self.order) > 2 else part[None]
        part = part.unflatten(0, (self.heads, -1) if self.heads_first else (-1, self.heads))
        return (part.transpose(0, 1) if self.heads_first else part).flatten(1, leading)

    def given(self, cells: Tensor, shape: Sequence[int]) -> Tensor:
        """Return cells (B, H, Q, K) in the `shape` of the scores, the inverse of `maps`."""
        if self.heads_first:
            cells = cells.unflatten(1, (self.heads, -1)).transpose(0, 1)
        cells = cells.reshape([shape[axis] for axis in self.order])
        return cells.permute([self.order.index(axis) for axis in range(len(shape))]).contiguous()

    def queries(self, part: Tensor, shape: Sequence[int]) -> Tensor:
        """Return queries or outputs of heads as (B, H, Q, D); they have the scores' axes and D."""
        return self.maps(self.expanded(part, shape)).squeeze(3)

    def keys(self, part: Tensor, shape: Sequence[int]) -> Tensor:
        """Return keys or values as (B, H, K, D); they have the scores' axes and D."""
        return self.maps(self.expanded(part, shape)).squeeze(2)

    def expanded(self, part: Tensor, shape: Sequence[int]) -> Tensor:
        sizes = [shape[axis] if axis in self.order[:-2] else -1 for axis in range(len(shape))]
        return part.expand(*sizes, -1)


FIXED = Layout((0, 1, 2, 3))  # the layout of nn.MultiheadAttention


class Changes(NamedTuple):
    """The cells of scores that change with the input, and the cells that no mask hides."""

    changed: Tensor
    seen: Tensor

    @classmethod
    def between(cls, before: Tensor, after: Tensor, shifts: bool) -> Changes:
        """Compare scores before and after; with `shifts`, a shift of a whole row does not count."""
        seen = (before > CLOSED) | (after > CLOSED)
        if not shifts:
            return cls(differing(before, after), seen)
        apart = (after - before).float().masked_fill(~seen, torch.nan)
        apart = (apart - apart.nanmedian(dim=-1, keepdim=True).values).nan_to_num(0.0)
        moved = apart.abs() > NEAR * apart.abs().max()
        # a changed query moves the median too: then the whole row changed
        moved |= moved.sum(dim=-1, keepdim=True) > 1
        return cls(moved, seen & (seen.sum(dim=-1, keepdim=True) > 2))


def differing(before: Tensor, after: Tensor) -> Tensor:
    """Return which numbers differ; two NaNs do not differ."""
    return (before != after) & ~(before.isnan() & after.isnan())


def possible(shape: Sequence[int], queries: Sequence[int], rows: int) -> Iterator[Layout]:
    """Yield the possible layouts of scores of this shape over `rows` texts; keys are last.

    `queries` are the axes that may be the axis of queries; if it is empty, any axis may be.
    """
    axes = range(len(shape) - 1)
    for query in [axis % len(shape) for axis in queries] or axes:
        others = [axis for axis in axes if axis != query]
        for text in others[:1] if rows == 1 else others:
            if shape[text] % rows:
                continue
            order = (text, *(axis for axis in others if axis != text), query, len(shape) - 1)
            yield Layout(order, shape[text] // rows)
            if 1 < rows < shape[text]:
                yield Layout(order, shape[text] // rows, heads_first=True)


def fitting(
    layouts: Sequence[Layout], tries: Sequence[Sequence[Changes]], known: bool
) -> list[Layout]:
    """Return the layouts that explain all `tries`; each try changed one input at some tokens.

    Under a layout that fits, a changed token changes its key for several queries, and the same for
    all heads. If it is not `known` that the scores are a product, it must also change its query for
    several keys. An input that no layout explains, such as a bias, is not a token's state, and does
    not count.
    """
    shown = [[queries_and_keys(layout, changes) for layout in layouts] for changes in tries]
    shown = [each for each in shown if any(each)]
    kept: list[Layout] = []
    for n, layout in enumerate(layouts):
        seen = [each[n] for each in shown]
        if seen and all(seen):
            queries, keys = (any(each) for each in zip(*seen, strict=True))
            single = known and 1 in layout.maps(tries[0][0].seen).shape[2:]
            kept += [layout] if (keys or single) and (queries or known) else []
    return kept


def queries_and_keys(layout: Layout, changes: Sequence[Changes]) -> tuple[bool, bool] | None:
    """Return whether changes moved a query for several keys, and a key for several queries.

    Return None if they moved nothing, more than one query and key, or only some of the heads.
    """
    touched, by_query, by_key = False, False, False
    for change in changes:
        seen = layout.maps(change.seen)  # (B, H, Q, K)
        cells = layout.maps(change.changed) & seen
        other = (~cells & seen).any(dim=1)
        cells = cells.any(dim=1)  # (B, Q, K)
        if (cells & other).any():
            return None
        cells = cells.any(dim=0).int()  # (Q, K)
        # the number of changed cells of the same query at other keys
        apart = cells.sum(dim=1, keepdim=True) - cells
        if not ((apart > 0).sum(dim=0) <= 1).any():
            return None
        touched |= bool(cells.any())
        by_key |= bool((cells.sum(dim=0) > 1).any())
        by_query |= bool((cells.sum(dim=1) > 1).any())
    return (by_query, by_key) if touched else None
