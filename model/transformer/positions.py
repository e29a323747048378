"""Position encodings: sinusoidal, learned or none."""

import torch
from torch import Tensor, nn

from headlight.model.transformer.config import TransformerConfig


def frequencies(d_model: int, base: float = 10_000.0) -> Tensor:
    """Return the frequency of each sinusoid, in radians per position: (d_model / 2,) in float64.

    Dimensions 2i and 2i + 1 have the frequency 1 / base^(2i / d_model). Their wavelength, in
    positions, is 2 pi divided by the frequency.
    Source: "Attention Is All You Need", section 3.5.
    """
    return base ** -(torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)


def sinusoids(positions: int | Tensor, d_model: int, base: float = 10_000.0) -> Tensor:
    """Return sinusoidal vectors (P, d_model) of the first P positions, or of a tensor of positions.

    Dimensions 2i and 2i + 1 are the sine and cosine of position / base^(2i / d_model).
    Source: "Attention Is All You Need", section 3.5.
    """
    if isinstance(positions, int):
        positions = torch.arange(positions)
    angles = torch.outer(positions.double(), frequencies(d_model, base))  # (positions, d_model / 2)
    table = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (positions, d_model / 2, 2)
    return table.flatten(1).float()


class Placement:
    """The positions of the tokens of one side; subclasses override it to move the tokens."""

    def vectors(self, trained: "Positions", start: int, end: int) -> Tensor:
        """Return the position vectors (end - start, d_model) of the tokens start to end - 1."""
        return trained.table[start:end]


UNMOVED = Placement()


class Positions(nn.Module):
    """The position vectors that are added to the token embeddings."""

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
        """Initialize a learned table at random, with vectors of about unit length."""
        if self.kind == "learned":
            nn.init.normal_(self.table, std=self.table.size(1) ** -0.5, generator=generator)

    def forward(self, start: int, end: int, placement: Placement = UNMOVED) -> Tensor:
        """Return the position vectors (end - start, d_model) of the tokens start to end - 1.

        Raises ValueError for more tokens than the model takes.
        """
        if end > self.max_positions:
            raise ValueError(
                f"{end} tokens are more than the model's {self.max_positions} positions."
            )
        return placement.vectors(self, start, end)
