"""Position encodings: sinusoidal, learned or none."""

from dataclasses import dataclass
from itertools import islice
from operator import index

import torch
from torch import Tensor, nn

from headlight.model.transformer.config import TransformerConfig

LAST_POSITION = 1_000_000  # also of tokens whose positions an edit names


@dataclass(frozen=True)
class PositionEdit:
    """Changed positions of the tokens of one side; `PositionEdit()` leaves them as trained.

    `off` adds no positions at all. `order` has the positions of the first tokens, which may repeat,
    and the others keep their own; `shift` is added to all positions. Raises ValueError if one would
    be negative or above LAST_POSITION.
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
        """Return the positions of the tokens start to end - 1."""
        return [
            self.shift + (self.order[token] if token < len(self.order) else token)
            for token in range(start, end)
        ]


def frequencies(d_model: int, base: float = 10_000.0) -> Tensor:
    """Return how far each pair of dimensions turns from one position to the next, in radians.

    Pair i, of the dimensions 2i and 2i + 1, turns by 1 / base^(2i / d_model): (d_model / 2,) as
    float64. Its wavelength in positions is 2 pi divided by that.
    Source: "Attention Is All You Need", section 3.5.
    """
    return base ** -(torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)


def sinusoids(positions: int | Tensor, d_model: int, base: float = 10_000.0) -> Tensor:
    """Return the sinusoidal table (positions, d_model), from position 0 or at some positions (P,).

    Dimensions 2i and 2i + 1 are the sine and cosine of position / base^(2i / d_model).
    Source: "Attention Is All You Need", section 3.5.
    """
    if isinstance(positions, int):
        positions = torch.arange(positions)
    angles = torch.outer(positions.double(), frequencies(d_model, base))  # (positions, d_model / 2)
    table = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (positions, d_model / 2, 2)
    return table.flatten(1).float()


UNMOVED = PositionEdit()


class Positions(nn.Module):
    """The vectors that are added to the token embeddings, by the tokens' positions."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.kind = config.positions
        self.max_positions = config.max_positions
        size = config.max_positions, config.d_model
        if config.positions == "learned":
            self.table = nn.Parameter(torch.empty(size))
            self.draw_weights()
        else:
            table = sinusoids(*size) if config.positions == "sinusoidal" else torch.zeros(size)
            self.register_buffer("table", table, persistent=False)

    def draw_weights(self, generator: torch.Generator | None = None) -> None:
        """Initialize a learned table at random, with vectors of unit length on average."""
        if self.kind == "learned":
            nn.init.normal_(self.table, std=self.table.size(1) ** -0.5, generator=generator)

    def forward(self, start: int, end: int, edit: PositionEdit = UNMOVED) -> Tensor:
        """Return the vectors (end - start, d_model) of the tokens start to end - 1.

        An edit may move tokens to positions beyond the table: a sinusoid continues there. Raises
        ValueError for more tokens than the model takes, or beyond the end of a learned table.
        """
        if end > self.max_positions:
            raise ValueError(f"{end} tokens are more than the {self.max_positions} positions.")
        if edit == UNMOVED:
            return self.table[start:end]
        if edit.off or self.kind == "none":
            return torch.zeros_like(self.table[start:end])
        positions = edit.positions(start, end)
        last = max(positions)
        if last < self.max_positions:
            return self.table[positions]
        if self.kind == "learned":
            raise ValueError(
                f"There is no position {last}: the learned table ends at {self.max_positions - 1}."
            )
        return sinusoids(torch.tensor(positions), self.table.size(1)).to(self.table)
