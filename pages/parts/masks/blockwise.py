"""A row of attention computed block by block, as in FlashAttention.

Sources: "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness" (Dao et al.
2022), section 3.1; the running maximum and sum are from "Online normalizer calculation for softmax"
(Milakov and Gimelshein 2018), algorithm 3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf

import torch
from torch import Tensor

NUMBER = 4  # bytes


@dataclass(frozen=True)
class BlockStep:
    """The numbers that are kept of a row of attention after one more block of keys is read."""

    keys: range  # the keys of the block
    maximum: float  # the largest score so far
    factor: float  # e^(old maximum - new maximum), by which the earlier sums are multiplied
    added: float  # the sum of e^(score - maximum) in the block
    total: float  # the same sum over all blocks so far
    output: Tensor  # (D,): the values so far, weighed by e^(score - maximum)


def blockwise(masked_scores: Tensor, value: Tensor, size: int) -> list[BlockStep]:
    """Return the steps over a row's masked scores (K,) and the values (K, D) of its keys.

    Each step reads `size` keys, the last step the rest. From one step to the next only the numbers
    of a `BlockStep` are used, as in FlashAttention.
    """
    maximum, total, output = -inf, 0.0, torch.zeros_like(value[0])
    steps = []
    for first in range(0, len(masked_scores), size):
        keys = range(first, min(first + size, len(masked_scores)))
        scores = masked_scores[first : first + size]
        new = max(maximum, scores.max().item())
        if new == -inf:  # the mask closes every key so far
            factor, shares = 1.0, torch.zeros_like(scores)
        else:
            factor, shares = exp(maximum - new), (scores - new).exp()  # (size,)
        added, maximum = shares.sum().item(), new
        total = factor * total + added
        output = factor * output + shares @ value[first : first + size]
        steps.append(BlockStep(keys, maximum, factor, added, total, output))
    return steps


def row_of_weights(masked_scores: Tensor, last: BlockStep) -> Tensor:
    """Return the row's weights (K,) from the last step's maximum and sum; 0 if all are closed."""
    if not last.total:
        return torch.zeros_like(masked_scores)
    return (masked_scores - last.maximum).exp() / last.total


def output_of(steps: Sequence[BlockStep]) -> Tensor:
    """Return the head's output (D,) for the row; zeros if every key is closed."""
    return steps[-1].output / (steps[-1].total or 1.0)


def bytes_stored(positions: int) -> int:
    """Return how many bytes a head's scores and weights take, stored as two whole matrices."""
    return 2 * positions**2 * NUMBER


def bytes_kept(positions: int) -> int:
    """Return how many bytes a head's maxima and sums take: two numbers for each query."""
    return 2 * positions * NUMBER
