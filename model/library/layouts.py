"""Where texts, heads, queries and keys are in scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Layout:
    """The axes of scores: texts, heads, queries and keys, in this order."""

    order: tuple[int, ...]
    heads: int = 1  # in the axis of the texts
    heads_first: bool = False  # and the texts are its faster part

    @classmethod
    def assumed(cls, cells: Tensor, rows: int) -> Layout:
        """Return the usual layout: (B, H, Q, K), (B, G, H / G, Q, K) or (B * H, Q, K)."""
        folded = cells.dim() < 4
        return cls((*range(cells.dim()),), max(1, len(cells) // rows) if folded else 1)

    def maps(self, part: Tensor) -> Tensor:
        """Return a part with the axes of scores, and maybe others after them, as (B, H, Q, K, ...).

        Raises ValueError if the axes are not those of the scores that were tried out.
        """
        if self == FIXED and part.dim() == 4:  # itself, for its gradient
            return part
        part = part.permute(*self.order, *range(len(self.order), part.dim()))
        leading = max(len(self.order) - 2, 1)
        part = part if len(self.order) > 2 else part[None]
        part = part.unflatten(0, (self.heads, -1) if self.heads_first else (-1, self.heads))
        return (part.transpose(0, 1) if self.heads_first else part).flatten(1, leading)

    def given(self, cells: Tensor, shape: Sequence[int]) -> Tensor:
        """Return (B, H, Q, K) in the shape that scores have, the inverse of `maps`."""
        if self.heads_first:
            cells = cells.unflatten(1, (self.heads, -1)).transpose(0, 1)
        cells = cells.reshape([shape[axis] for axis in self.order])
        return cells.permute([self.order.index(axis) for axis in range(len(shape))]).contiguous()

    def queries(self, part: Tensor, shape: Sequence[int]) -> Tensor:
        """Return queries or heads, with the axes of scores and one more, as (B, H, Q, D)."""
        return self.maps(self.expanded(part, shape)).squeeze(3)

    def keys(self, part: Tensor, shape: Sequence[int]) -> Tensor:
        """Return keys or values, with the axes of scores and one more, as (B, H, K, D)."""
        return self.maps(self.expanded(part, shape)).squeeze(2)

    def expanded(self, part: Tensor, shape: Sequence[int]) -> Tensor:
        sizes = [shape[axis] if axis in self.order[:-2] else -1 for axis in range(len(shape))]
        return part.expand(*sizes, -1)


FIXED = Layout((0, 1, 2, 3))  # of nn.MultiheadAttention
