"""How likely a model finds a given target."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from model.tokens import END_ID, PAD_ID
from model.trace import Trace


def next_log_probabilities(logits: Tensor, target_ids: Tensor) -> Tensor:
    """Return log-probabilities (B, T), in nats, of what follows each decoder input.

    Shapes: logits (B, T, V) and target_ids (T,).

    `target_ids` is what the decoder read, the start token first; after the last comes the end.
    """
    following = torch.cat([target_ids[1:], target_ids.new_tensor([END_ID])])
    rows = logits.flatten(0, 1)  # (B * T, V)
    losses = F.cross_entropy(rows, following.repeat(logits.size(0)), reduction="none")
    return -losses.unflatten(0, logits.shape[:2])


def trace_log_probabilities(trace: Trace) -> Tensor:
    """Return log-probabilities (tokens before padding,), in nats, of the target of a trace.

    Each is of the token after the one the decoder read there, the end token last.
    """
    read = [token.id for token in trace.target_tokens if token.id != PAD_ID]
    ids = torch.tensor(read, device=trace.logits.device)
    return next_log_probabilities(trace.logits[:, : len(read)], ids)[0]


def most_likely_tokens(trace: Trace) -> tuple[Tensor, list[int]]:
    """Return the most likely token after each one before the padding: probabilities and ids."""
    length = sum(token.id != PAD_ID for token in trace.target_tokens)
    best = trace.logits[0, :length].softmax(dim=-1).max(dim=-1)
    return best.values, best.indices.tolist()
