"""Sentences as rows of ids, as the encoder and the decoder read them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from model.tokens import END_ID, PAD_ID, START_ID, Token


def source_sequence(ids: Sequence[int]) -> list[int]:
    """Return what the encoder reads: the sentence and the end token."""
    return [*ids, END_ID]


def target_sequence(ids: Sequence[int]) -> list[int]:
    """Return what the decoder reads: the target shifted right, the start token first."""
    return [START_ID, *ids]


def no_source(rows: int) -> Tensor:
    """Return the sources of a decoder that is alone: the end token, which it does not look at."""
    return torch.full((rows, 1), END_ID)


def pad(sequences: Sequence[Sequence[int]], length: int = 0) -> Tensor:
    """Pad id sequences on the right to the longest one, or to `length` -> (B, length)."""
    length = max([length, *(len(sequence) for sequence in sequences)])
    rows = [[*sequence, *[PAD_ID] * (length - len(sequence))] for sequence in sequences]
    return torch.tensor(rows, dtype=torch.long)


def token_ids(tokens: Sequence[Token], device: torch.device) -> Tensor:
    """Tokens -> (1, T) ids on a device."""
    return torch.tensor([[token.id for token in tokens]], dtype=torch.long, device=device)
