"""Attention masks: boolean, True where a query may see a key.

Masks combine with `&`, and broadcast over heads and, for padding, over queries.
"""

from __future__ import annotations

import torch
from torch import Tensor


def padding_mask(ids: Tensor, pad_id: int) -> Tensor:
    """Hide padded keys from every query: (B, K) ids -> (B, 1, 1, K)."""
    return (ids != pad_id)[:, None, None, :]


def look_ahead_mask(queries: int, earlier: int = 0, device: torch.device | None = None) -> Tensor:
    """Hide later keys from earlier queries -> (1, 1, Q, earlier + Q).

    `earlier` counts the positions before the first query whose keys are visible to all queries,
    as when decoding goes on from a cache.
    """
    visible = torch.ones(queries, earlier + queries, dtype=torch.bool, device=device)
    return visible.tril(diagonal=earlier)[None, None]


def window_mask(queries: int, keys: int, width: int, device: torch.device | None = None) -> Tensor:
    """Hide keys farther than `width` positions from the query -> (1, 1, Q, K)."""
    query_positions = torch.arange(queries, device=device)[:, None]
    key_positions = torch.arange(keys, device=device)[None, :]
    return ((query_positions - key_positions).abs() <= width)[None, None]
