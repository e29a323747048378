"""The geometry of sinusoidal positions: an offset is the same rotation at every position."""

import torch
from torch import Tensor

from headlight.model.transformer.positions import frequencies


def rotation(offset: int, d_model: int, base: float = 10_000.0) -> Tensor:
    """Return the map (d_model, d_model) from each sinusoidal position to the one `offset` later.

    It does not depend on the position: table[p + offset] = rotation(offset) @ table[p]. A 2 x 2
    block for each pair rotates it by offset times its frequency; all other numbers are 0.
    """
    angles = offset * frequencies(d_model, base)
    rows = torch.stack(
        [angles.cos(), angles.sin(), -angles.sin(), angles.cos()], dim=-1
    )  # (d_model / 2, 4)
    return torch.block_diag(*rows.unflatten(-1, (2, 2))).float()


def rotation_error(table: Tensor, offset: int, base: float = 10_000.0) -> float:
    """Return the largest error of `rotation` on the rows of a table (positions, d_model)."""
    turned = table[: len(table) - offset] @ rotation(offset, table.size(1), base).T
    return (turned - table[offset:]).abs().max().item()


def by_offset(similarities: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the smallest, mean and largest of similarities (P, P) by distance: (P,) each."""
    diagonals = [similarities.diagonal(offset) for offset in range(len(similarities))]
    return (
        torch.stack([diagonal.min() for diagonal in diagonals]),
        torch.stack([diagonal.mean() for diagonal in diagonals]),
        torch.stack([diagonal.max() for diagonal in diagonals]),
    )
