"""Where a token stands: sinusoidal, learned, or no positions."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from model.config import TransformerConfig


def sinusoids(positions: int, d_model: int, base: float = 10_000.0) -> Tensor:
    """The sinusoidal table (positions, d_model).

    Dimensions 2i and 2i + 1 are the sine and cosine of position / base^(2i / d_model).
    Source: "Attention Is All You Need", section 3.5.
    """
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    angles = torch.arange(positions, dtype=torch.float64)[:, None] / base**exponents
    table = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (positions, d_model / 2, 2)
    return table.flatten(1).float()


class Positions(nn.Module):
    """Adds each position's vector to the token embedding at that position."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.max_positions = config.max_positions
        if config.positions == "sinusoidal":
            table = sinusoids(config.max_positions, config.d_model)
            self.register_buffer("table", table, persistent=False)
        elif config.positions == "learned":
            self.table = nn.Parameter(torch.empty(config.max_positions, config.d_model))
            nn.init.normal_(self.table, std=config.d_model**-0.5)
        else:
            self.table = None

    def forward(self, embedded: Tensor, start: int = 0) -> Tensor:
        """Add the vectors of positions start, start + 1, ... to (B, T, d_model)."""
        end = start + embedded.size(1)
        if end > self.max_positions:
            raise ValueError(f"{end} tokens are more than the {self.max_positions} positions.")
        return embedded if self.table is None else embedded + self.table[start:end]
