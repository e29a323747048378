"""Rotary positions, which turn queries and keys."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor


@dataclass(frozen=True)
class Rotary:
    """Queries and keys that are turned by their positions, pair by pair of dimensions.

    Pair i is the dimensions i and i + R / 2 of the first R of a head, or 2i and 2i + 1 if they are
    `interleaved`. Turned vectors are `length` times as long, which is 1 but for some scalings.
    Source: Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding".
    """

    frequencies: Tensor  # (R / 2,) in radians from one position to the next
    interleaved: bool = False
    length: float = 1.0
    settings: Mapping[str, object] = field(default_factory=dict)  # as the configuration has them

    @property
    def width(self) -> int:
        """The number of a head's dimensions that are turned."""
        return 2 * len(self.frequencies)

    def pairs(self, states: Tensor) -> Tensor:
        """(..., D) -> (..., R / 2, 2)."""
        turned = states[..., : self.width]
        if self.interleaved:
            return turned.unflatten(-1, (-1, 2))
        return turned.unflatten(-1, (2, -1)).transpose(-1, -2)

    def turn(self, states: Tensor, positions: Tensor) -> Tensor:
        """Turn states (..., T, D) by positions (T,)."""
        return self._turned(states, positions, self.length)

    def turn_back(self, states: Tensor, positions: Tensor) -> Tensor:
        """Return the states (..., T, D) that are turned into these by positions (T,)."""
        return self._turned(states, -positions, 1 / self.length)

    def _turned(self, states: Tensor, positions: Tensor, length: float) -> Tensor:
        angles = positions[:, None] * self.frequencies  # (T, R / 2)
        cos, sin = length * angles.cos(), length * angles.sin()
        first, second = self.pairs(states).unbind(-1)
        pairs = torch.stack([first * cos - second * sin, second * cos + first * sin], dim=-1)
        turned = pairs if self.interleaved else pairs.transpose(-1, -2)
        return torch.cat([turned.flatten(-2), states[..., self.width :]], dim=-1)

    def products_by_distance(self, query: Tensor, key: Tensor, distances: Tensor) -> Tensor:
        """Return the mean of q.k by how far the query stands after the key: (distances,).

        Shapes: query and key (N, D), as they are before they are turned; distances (distances,).
        """
        (x, y), (u, v) = (self.pairs(each).unbind(-1) for each in (query, key))
        along, across = (x * u + y * v).mean(0), (x * v - y * u).mean(0)  # (R / 2,)
        angles = distances[:, None] * self.frequencies  # (distances, R / 2)
        rest = (query * key)[:, self.width :].sum(-1).mean()
        return self.length**2 * (angles.cos() @ along + angles.sin() @ across) + rest
