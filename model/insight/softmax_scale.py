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
def rescaled(part: Anatomy, factor: float) -> Tensor:
    """Return softmax(factor x q.k) of a query over its keys (K,); 0 throughout if all are blocked.

    The model's own factor is the scale of the anatomy.
    """
    return torch.softmax(part.masked_scores / part.scale * factor, dim=-1).nan_to_num()


@torch.inference_mode()
def scale_sweep(query: Tensor, key: Tensor, factors: Sequence[float]) -> Saturation:
    """Return how sharp softmax(factor x q.k) is for each factor: a query (D,) and its keys (K, D).

    The keys are those the query may see. The model's own factor is 1 / sqrt(D); a temperature
    divides it.
    """
    scores = torch.tensor(factors, device=query.device)[:, None] * (key @ query)  # (N, K)
    return saturation(scores.softmax(dim=-1))


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
