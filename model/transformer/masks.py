"""Attention masks: boolean tensors, True where a query may see a key.

`&` combines masks. They broadcast over heads, and the padding mask also over queries.
"""

import torch
from torch import Tensor

Visible = Tensor | None  # bool, broadcasts to (B, H, Q, K); None hides nothing


def padding_mask(ids: Tensor, pad_id: int) -> Tensor:
    """Hide padded keys from every query: (B, K) ids -> (B, 1, 1, K)."""
    return (ids != pad_id)[:, None, None, :]


def look_ahead_mask(queries: int, earlier: int = 0, device: torch.device | None = None) -> Tensor:
    """Hide later keys from earlier queries: (1, 1, Q, earlier + Q).

    When decoding continues from a cache, `earlier` is the number of cached positions, whose keys
    all queries see.
    """
    visible = torch.ones(queries, earlier + queries, dtype=torch.bool, device=device)
    return visible.tril(diagonal=earlier)[None, None]


def softmax_of_visible(masked_scores: Tensor, all_visible: bool = False) -> Tensor:
    """Return weights (B, H, Q, K) from scores that are -inf where a query may not see a key.

    The softmax of a row that is all -inf would be 0/0: a query that sees no key gets weights of 0.
    `all_visible` says that there is no such row.
    """
    weights = torch.softmax(masked_scores, dim=-1)
    if all_visible:
        return weights
    return weights.masked_fill(masked_scores.isneginf().all(dim=-1, keepdim=True), 0.0)
