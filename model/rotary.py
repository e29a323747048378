"""Rotary positions, which rotate queries and keys by an angle that grows with the position."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor


@dataclass(frozen=True)
class Rotary:
    """Rotates queries and keys by their positions, in pairs of dimensions.

    Only the first R dimensions of a head are rotated. Pair i has the dimensions i and i + R / 2, or
    2i and 2i + 1 if pairs are `interleaved`.
    Source: Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding".
    """

    frequencies: Tensor  # (R / 2,) the angle from one position to the next, in radians
    interleaved: bool = False
    length: float = 1.0  # the factor on rotated vectors; only some scalings change it
    # the entries of the model's configuration, such as the base
    settings: Mapping[str, object] = field(default_factory=dict)

    @property
    def width(self) -> int:
        """The number R of a head's dimensions that are rotated."""
        return 2 * len(self.frequencies)

    def pairs(self, states: Tensor) -> Tensor:
        """(..., D) -> (..., R / 2, 2)."""
        turned = states[..., : self.width]
        if self.interleaved:
            return turned.unflatten(-1, (-1, 2))
        return turned.unflatten(-1, (2, -1)).transpose(-1, -2)

    def turn(self, states: Tensor, positions: Tensor) -> Tensor:
        """Rotate states (..., T, D) by positions (T,)."""
        return self._turned(states, positions, self.length)

    def turn_back(self, states: Tensor, positions: Tensor) -> Tensor:
        """Undo `turn`: return the states (..., T, D) before their rotation by positions (T,)."""
        return self._turned(states, -positions, 1 / self.length)

    def _turned(self, states: Tensor, positions: Tensor, length: float) -> Tensor:
        angles = positions[:, None] * self.frequencies  # (T, R / 2)
        cos, sin = length * angles.cos(), length * angles.sin()
        first, second = self.pairs(states).unbind(-1)
        pairs = torch.stack([first * cos - second * sin, second * cos + first * sin], dim=-1)
        turned = pairs if self.interleaved else pairs.transpose(-1, -2)
        return torch.cat([turned.flatten(-2), states[..., self.width :]], dim=-1)

    def products_by_distance(self, query: Tensor, key: Tensor, distances: Tensor) -> Tensor:
        """Return the mean of query · key for each distance from the key to the query: (distances,).

        Shapes: query and key (N, D), before they are rotated; distances (distances,).
        """
        (x, y), (u, v) = (self.pairs(each).unbind(-1) for each in (query, key))
        along, across = (x * u + y * v).mean(0), (x * v - y * u).mean(0)  # (R / 2,)
        angles = distances[:, None] * self.frequencies  # (distances, R / 2)
        rest = (query * key)[:, self.width :].sum(-1).mean()
        return self.length**2 * (angles.cos() @ along + angles.sin() @ across) + rest
