"""Attention masks: boolean, True where a query may see a key.

Masks combine with `&`, and broadcast over heads and, for padding, over queries.
"""

from typing import Literal

import torch
from torch import Tensor

Method = Literal["-inf", "large negative", "zero after"]
LARGE_NEGATIVE = -1e9


def padding_mask(ids: Tensor, pad_id: int) -> Tensor:
    """Hide padded keys from every query: (B, K) ids -> (B, 1, 1, K)."""
    return (ids != pad_id)[:, None, None, :]


def look_ahead_mask(queries: int, earlier: int = 0, device: torch.device | None = None) -> Tensor:
    """Hide later keys from earlier queries -> (1, 1, Q, earlier + Q).

    `earlier` counts the positions before the first query whose keys are visible to all queries,
    as when decoding continues from a cache.
    """
    visible = torch.ones(queries, earlier + queries, dtype=torch.bool, device=device)
    return visible.tril(diagonal=earlier)[None, None]


def softmax_of_visible(masked_scores: Tensor, visible: Tensor) -> Tensor:
    """Return weights (B, H, Q, K) from scores that are -inf where a query may not look.

    The softmax of a row that is all -inf is 0/0; a query that may see nothing gets weights of 0.
    """
    weights = torch.softmax(masked_scores, dim=-1)
    return weights.masked_fill(~visible.any(dim=-1, keepdim=True), 0.0)


def masked_softmax(scores: Tensor, visible: Tensor, method: Method) -> Tensor:
    """Return weights by three ways of blocking, to show why the model uses the first.

    `attend` uses "-inf". "large negative" adds -1e9 to blocked scores, as much code does: a fully
    blocked row then spreads its weight over the forbidden keys. "zero after" takes the softmax over
    all keys and zeroes blocked weights: the rows no longer sum to 1.
    """
    if method == "large negative":
        return torch.softmax(scores + LARGE_NEGATIVE * ~visible, dim=-1)
    if method == "zero after":
        return torch.softmax(scores, dim=-1) * visible
    return softmax_of_visible(scores.masked_fill(~visible, -torch.inf), visible)
