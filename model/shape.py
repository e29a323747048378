"""How many layers and heads a model has, which is what edits and links have to know of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model.trace import Kind, Site


@dataclass(frozen=True)
class Shape:
    """How many layers and heads there are of each kind of attention, and the longest text."""

    kinds: Mapping[Kind, tuple[int, int]]  # layers, and heads in each
    max_positions: int  # tokens, special ones included

    def layers(self, kind: Kind) -> int:
        """Return how many layers have a kind of attention; 0 if there is no such kind."""
        return self.kinds.get(kind, (0, 0))[0]

    def heads(self, kind: Kind) -> int:
        """Return how many heads a layer of a kind has; 0 if there is no such kind."""
        return self.kinds.get(kind, (0, 0))[1]

    @property
    def sites(self) -> list[Site]:
        """Every attention block, in the order of the kinds."""
        return [Site(kind, layer) for kind in self.kinds for layer in range(self.layers(kind))]
