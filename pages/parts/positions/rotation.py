"""The geometry of sinusoidal positions: an offset is the same rotation at every position."""

import torch
from torch import Tensor

from headlight.model.transformer.positions import frequencies


def rotation(offset: int, d_model: int, base: float = 10_000.0) -> Tensor:
    """Return the matrix (d_model, d_model) that maps a position's vector to the one `offset` later.

    The matrix is the same for all positions: table[p + offset] = rotation(offset) @ table[p]. It
    has a 2 x 2 block for each pair of dimensions, which rotates the pair by offset times the pair's
    frequency; all other numbers are 0.
    """
    angles = offset * frequencies(d_model, base)
    rows = torch.stack(
        [angles.cos(), angles.sin(), -angles.sin(), angles.cos()], dim=-1
    )  # (d_model / 2, 4)
    return torch.block_diag(*rows.unflatten(-1, (2, 2))).float()


def rotation_error(table: Tensor, offset: int, base: float = 10_000.0) -> float:
    """Return the largest error of `rotation` as a map between rows (positions, d_model)."""
    turned = table[: len(table) - offset] @ rotation(offset, table.size(1), base).T
    return (turned - table[offset:]).abs().max().item()


def by_offset(similarities: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the smallest, mean and largest similarity of two positions, by distance: (P,) each.

    `similarities` (P, P) are those of every position with every position.
    """
    diagonals = [similarities.diagonal(offset) for offset in range(len(similarities))]
    return (
        torch.stack([diagonal.min() for diagonal in diagonals]),
        torch.stack([diagonal.mean() for diagonal in diagonals]),
        torch.stack([diagonal.max() for diagonal in diagonals]),
    )
