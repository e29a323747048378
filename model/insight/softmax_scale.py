"""How the scale of the scores decides how sharp a softmax is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from model.insight.anatomy import Anatomy


@dataclass(frozen=True)
class Saturation:
    """How sharp softmaxes are: their entropy in nats, and their largest weight, each (N,)."""

    entropy: Tensor
    largest: Tensor


def saturation(weights: Tensor) -> Saturation:
    """Return the sharpness of rows of weights: (..., K) -> (...) each."""
    return Saturation(torch.special.entr(weights).sum(dim=-1), weights.max(dim=-1).values)


@torch.inference_mode()
def rescaled(part: Anatomy, factor: float | Tensor) -> Tensor:
    """Return a query's weights over its keys (..., K) with its q.k times a factor (..., 1).

    Bias, softcap, mask and sink are as in the model, whose own factor is the scale of the anatomy.
    Weights are 0 throughout if all keys are blocked.
    """
    scores = part.dots * factor
    if part.score_bias is not None:
        scores = scores + part.score_bias
    if part.softcap is not None:
        scores = part.softcap * torch.tanh(scores / part.softcap)
    scores = scores + (part.masked_scores - part.scores)
    if part.sink is not None:
        scores = torch.cat([scores, torch.full_like(scores[..., :1], part.sink)], dim=-1)
    return scores.softmax(dim=-1)[..., : len(part.dots)].nan_to_num()


def scale_sweep(part: Anatomy, factors: Sequence[float]) -> Saturation:
    """Return how sharp the weights of a query are with each factor in place of its scale.

    A temperature divides the factor.
    """
    return saturation(rescaled(part, torch.tensor(factors, device=part.dots.device)[:, None]))


def width_sweep(
    widths: Sequence[int], keys: int, seed: int = 0, draws: int = 256
) -> dict[Literal["scaled", "not scaled"], Saturation]:
    """Return how sharp a row over `keys` keys is at each width of a head, on average.

    Queries and keys are independent, of mean 0 and variance 1 in every dimension, so that q.k has
    variance D; scaled by 1 / sqrt(D) it has variance 1 at every width.
    Source: "Attention Is All You Need", section 3.2.1, footnote 4.
    """
    generator = torch.Generator().manual_seed(seed)
    scores = []
    for width in widths:
        query = torch.randn(draws, width, 1, generator=generator)
        key = torch.randn(draws, keys, width, generator=generator)
        scores.append((key @ query)[..., 0])
    products = torch.stack(scores)  # (N, draws, K)
    scale = torch.tensor(widths)[:, None, None] ** -0.5
    found = {}
    for name, factor in (("scaled", scale), ("not scaled", 1)):
        rows = saturation((products * factor).softmax(dim=-1))  # (N, draws)
        found[name] = Saturation(rows.entropy.mean(dim=1), rows.largest.mean(dim=1))
    return found
