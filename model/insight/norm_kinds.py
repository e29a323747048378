"""Layer norm and batch norm of the same states."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

EPSILON = 1e-5


@dataclass(frozen=True)
class Normalized:
    """States after a norm without gain or bias.

    `changes` is the most that any number of each other token moves when the last token is taken
    away.
    """

    states: Tensor  # (T, d_model)
    changes: Tensor  # (T - 1,)


@torch.inference_mode()
def layer_and_batch_norm(states: Tensor) -> tuple[Normalized, Normalized]:
    """Return layer norm and batch norm of one sentence's states (1, T, d_model).

    Layer norm takes each token by itself, over its dimensions; batch norm takes each dimension by
    itself, over the tokens, so that a token changes with its neighbours.
    Sources: Ba et al. 2016, "Layer Normalization"; Ioffe and Szegedy 2015, "Batch Normalization".
    """
    return normalized(states[0], over=1), normalized(states[0], over=0)


def normalized(states: Tensor, over: int) -> Normalized:
    """States (T, d_model) to mean 0 and variance 1 over the dimensions (1) or the tokens (0)."""

    def norm(rows: Tensor) -> Tensor:
        variance, mean = torch.var_mean(rows, dim=over, correction=0, keepdim=True)
        return (rows - mean) / (variance + EPSILON).sqrt()

    result = norm(states)
    shorter = norm(states[:-1]) if len(states) > 1 else states[:0]
    return Normalized(result, (result[:-1] - shorter).abs().amax(dim=1))
