"""Attention in blocks, as LongT5's encoder computes it, and the same as a whole map.

Each block of queries sees its own block of keys and its two neighbours, in (B, blocks, H, L, 3 L)
for blocks of L tokens, the last one padded.
Source: "LongT5: Efficient Text-To-Text Transformer for Long Sequences", section 3.1.1.
"""

import torch
from torch import Tensor
from torch.nn import functional as F


def first_keys(queries: int, length: int, device: torch.device) -> Tensor:
    """Return the first key that each query's block sees, (queries, 1); negative before the text."""
    return (torch.arange(queries, device=device)[:, None] // length - 1) * length


def join_blocks(blocks: Tensor, tokens: int, outside: float) -> Tensor:
    """(B, blocks, H, L, 3 L) -> (B, H, tokens, tokens); cells in no block become `outside`."""
    length, width = blocks.shape[-2:]
    rows = blocks.transpose(1, 2).flatten(2, 3)[:, :, :tokens]  # (B, H, tokens, 3 L)
    keys = torch.arange(tokens, device=blocks.device)
    columns = keys - first_keys(tokens, length, blocks.device)  # (tokens, tokens)
    inside = (columns >= 0) & (columns < width)
    columns = columns.clamp(0, width - 1).expand(*rows.shape[:2], -1, -1)
    return rows.gather(-1, columns).where(inside, outside)


def split_blocks(cells: Tensor, length: int, outside: float) -> Tensor:
    """(B, H, tokens, tokens) -> (B, blocks, H, L, 3 L); keys beyond the text become `outside`.

    Queries beyond the text, whose results are cut off, have 0 for the keys in the text.
    """
    tokens = cells.size(-1)
    queries = -(-tokens // length) * length
    rows = F.pad(cells, (0, 0, 0, queries - tokens))  # (B, H, queries, tokens)
    keys = torch.arange(3 * length, device=cells.device)
    keys = keys + first_keys(queries, length, cells.device)  # (queries, 3 L)
    inside = (keys >= 0) & (keys < tokens)
    keys = keys.clamp(0, tokens - 1).expand(*rows.shape[:2], -1, -1)
    blocks = rows.gather(-1, keys).where(inside, outside)
    return blocks.unflatten(2, (-1, length)).transpose(1, 2).contiguous()
