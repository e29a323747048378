"""Scores lowered by distance, more in some heads than in others: no cell is closed.

Source: "Train Short, Test Long: Attention with Linear Biases" (Press et al. 2022), section 3.
"""

import torch
from torch import Tensor

from headlight.model.edits.masks import Cells, Mask


def lowered(cells: Cells, heads: int, times: int) -> Tensor:
    """Return the numbers (H, Q, K) subtracted from the scores: the distance times a head's slope.

    The slopes are 2^(-8/H), 2^(-16/H), ... to 2^-8, as published for a power of two.
    """
    slopes = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
    return times * slopes[:, None, None] * (cells.query - cells.key).abs()


MASK = Mask(
    name="distance",
    title="Lowered by distance",
    visible=lambda cells, times: ~cells.none(),
    lowered=lowered,
    kinds=("encoder", "decoder"),
    lowest=(1,),
    offered=[(1,), (2,), (4,)],
    words="with scores lowered by distance, {} times the slopes of ALiBi",
    help="Closes no cell: subtracts from each score the distance times a slope, as ALiBi does.",
    source="Press et al. 2022",
)
