"""Attention masks: boolean, True where a query may see a key.

Masks combine with `&`, and broadcast over heads and, for padding, over queries.
"""

import torch
from torch import Tensor

Visible = Tensor | None  # bool, broadcasts to (B, H, Q, K); None hides nothing


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


def softmax_of_visible(masked_scores: Tensor, all_visible: bool = False) -> Tensor:
    """Return weights (B, H, Q, K) from scores that are -inf where a query may not look.

    The softmax of a row that is all -inf is 0/0; a query that may see nothing gets weights of 0.
    """
    weights = torch.softmax(masked_scores, dim=-1)
    if all_visible:
        return weights
    return weights.masked_fill(masked_scores.isneginf().all(dim=-1, keepdim=True), 0.0)
