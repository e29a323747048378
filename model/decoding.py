"""From source ids to target ids, one token at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from model.edits import opens_the_future
from model.tokenizer import END_ID, PAD_ID, START_ID, UNKNOWN_ID
from model.trace import AttentionEdit, KeyValueCache, Run, Site
from model.transformer import Transformer

NEVER_WRITTEN = (PAD_ID, UNKNOWN_ID, START_ID)


@dataclass(frozen=True)
class Decoded:
    """The ids a decoding chose, without start and end, and what the model thought of them."""

    ids: list[int]
    log_probability: float  # of the ids, and of the end token where it was reached
    finished: bool  # True where the end token came, False where the limit did


@torch.inference_mode()
def greedy(
    model: Transformer,
    source_ids: Tensor,
    *,
    max_new_tokens: int,
    edits: Mapping[Site, AttentionEdit] | None = None,
) -> list[Decoded]:
    """Take the likeliest token at every step, for each row of `source_ids` (B, S).

    Padding, unknown and start tokens are never chosen. Stops at the end token, or after
    `max_new_tokens`. Each step computes its own position only, unless earlier positions may see
    later ones: then all are computed anew at every step.
    """
    edits = edits or {}
    batch = source_ids.size(0)
    memory = model.encode(source_ids, Run(edits))
    memory_mask = model.source_mask(source_ids)
    sees_later = opens_the_future(edits) or not model.config.look_ahead_mask
    run = Run(edits, cache=None if sees_later else KeyValueCache())
    read_ids = torch.full((batch, 1), START_ID, device=source_ids.device)
    finished = torch.zeros(batch, dtype=torch.bool, device=source_ids.device)
    totals = torch.zeros(batch, device=source_ids.device)
    chosen: list[Tensor] = []
    while len(chosen) < max_new_tokens and not finished.all():
        logits = model.decode(read_ids, memory, memory_mask, run)[:, -1]  # (B, V)
        log_probabilities = torch.log_softmax(logits.float(), dim=-1)
        log_probabilities[:, NEVER_WRITTEN] = -torch.inf
        best, ids = log_probabilities.max(dim=-1)  # (B,)
        totals += best.masked_fill(finished, 0.0)
        chosen.append(ids.masked_fill(finished, PAD_ID))
        finished |= ids == END_ID
        read_ids = torch.cat([read_ids, ids[:, None]], dim=1) if run.cache is None else ids[:, None]
    rows = torch.stack(chosen, dim=1).tolist() if chosen else [[]] * batch  # (B, T)
    return [
        Decoded([i for i in row if i not in (PAD_ID, END_ID)], total, done)
        for row, total, done in zip(rows, totals.tolist(), finished.tolist(), strict=True)
    ]
