"""Scores of a head's weights, from 0 to 1, while the same tokens are read twice."""

import torch
from torch import Tensor


def previous_token(weights: Tensor) -> Tensor:
    """Return the mean weight on the previous token: (..., Q, Q) -> (...).

    Source: Voita et al., "Analyzing Multi-Head Self-Attention" (2019), section 5.1 (there, the
    share of tokens whose largest weight is there); Elhage et al. (2021).
    """
    return weights.diagonal(-1, -2, -1).mean(dim=-1)


def duplicate_token(weights: Tensor, both: bool = False) -> Tensor:
    """Return the mean weight on the same token in the other reading: (..., 2 N, 2 N) -> (...).

    It is that of the second reading, whose queries may look back, or of `both` readings.
    Source: Wang et al., "Interpretability in the Wild" (2023), section 3.
    """
    count = weights.size(-1) // 2
    back = weights.diagonal(-count, -2, -1)  # (..., N)
    ahead = weights.diagonal(count, -2, -1)
    return torch.cat([back, ahead], dim=-1).mean(dim=-1) if both else back.mean(dim=-1)


def induction(weights: Tensor) -> Tensor:
    """Return the mean weight on the token after the same one before: (..., 2 N, 2 N) -> (...).

    Source: Olsson et al., "In-context Learning and Induction Heads" (2022), prefix matching score;
    Elhage et al., "A Mathematical Framework for Transformer Circuits" (2021).
    """
    count = weights.size(-1) // 2
    return weights.diagonal(1 - count, -2, -1)[..., 1:].mean(dim=-1)
