"""Edits of positions: none at all, other positions for the first tokens, or shifted ones."""

from dataclasses import dataclass
from itertools import islice
from operator import index

import torch
from torch import Tensor

from headlight.model.transformer.positions import Placement, Positions, sinusoids

LAST_POSITION = 1_000_000  # the largest position, and the last token, that an edit may name


@dataclass(frozen=True)
class PositionEdit(Placement):
    """Changed positions of the tokens of one side; `PositionEdit()` leaves them as trained.

    With `off`, no positions are added at all. `order` has the positions of the first tokens, which
    may repeat; the other tokens keep their own. `shift` is added to all positions. Raises
    ValueError if a number is negative or above LAST_POSITION.
    """

    off: bool = False
    order: tuple[int, ...] = ()
    shift: int = 0

    def __post_init__(self) -> None:
        order = tuple(map(index, islice(self.order, LAST_POSITION + 2)))
        object.__setattr__(self, "order", order)
        object.__setattr__(self, "shift", index(self.shift))
        if min(self.shift, *self.order, 0) < 0:
            raise ValueError("Positions count from 0: an order or a shift cannot be negative.")
        if max(self.shift, len(self.order) - 1, *self.order) > LAST_POSITION:
            raise ValueError(f"An order or a shift of positions is at most {LAST_POSITION:,}.")

    def positions(self, start: int, end: int) -> list[int]:
        """Return the positions of the tokens from `start` to `end` - 1."""
        return [
            self.shift + (self.order[token] if token < len(self.order) else token)
            for token in range(start, end)
        ]

    def vectors(self, trained: Positions, start: int, end: int) -> Tensor:
        """Return the position vectors of the tokens from `start` to `end` - 1: (T, d_model).

        Beyond the end of the table sinusoids are computed; a learned table raises ValueError.
        """
        if self == PositionEdit():
            return super().vectors(trained, start, end)
        if self.off or trained.kind == "none":
            return torch.zeros_like(trained.table[start:end])
        positions = self.positions(start, end)
        last = max(positions)
        if last < trained.max_positions:
            return trained.table[positions]
        if trained.kind == "learned":
            end = trained.max_positions - 1
            raise ValueError(f"There is no position {last}: the learned table ends at {end}.")
        return sinusoids(torch.tensor(positions), trained.table.size(1)).to(trained.table)
