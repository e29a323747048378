"""The encoder does not know the order of its tokens but by their positions."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from model.trace import PositionEdit, Run
from model.transformer import Transformer


def shuffled(length: int, seed: int) -> tuple[int, ...]:
    """Return the numbers 0 to length - 1 in another order, the same for the same seed.

    A single number has no other order, and keeps its own.
    """
    order = torch.arange(length)
    generator = torch.Generator().manual_seed(seed)
    while length > 1 and torch.equal(order, torch.arange(length)):
        order = torch.randperm(length, generator=generator)
    return tuple(order.tolist())


@torch.inference_mode()
def permutation_differences(
    model: Transformer, source_ids: Tensor, order: Sequence[int], edit: PositionEdit
) -> Tensor:
    """Return what shuffling the tokens does to the encoder's outputs, beyond shuffling them too.

    `source_ids` (1, S) are read in their order and in the given one, with the same positions. The
    outputs of each token are compared where it stands after the shuffling: the largest difference
    of their numbers (S,). All are 0, but for rounding, if the encoder is permutation
    equivariant, which it is without positions.
    """
    run = Run({"encoder": edit})
    plain = model.encode(source_ids, run)[0]  # (S, d_model)
    permuted = model.encode(source_ids[:, list(order)], run)[0]  # (S, d_model)
    return (permuted - plain[list(order)]).abs().amax(dim=-1)
