"""What each head contributes to a translation, measured by doing without it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from model.insight.scoring import next_log_probabilities
from model.trace import AttentionEdit, Run, Site
from model.transformer import Transformer


@torch.inference_mode()
def head_removals(
    model: Transformer,
    source_ids: Tensor,
    target_ids: Tensor,
    edits: Mapping[Site, AttentionEdit] | None = None,
) -> Iterator[tuple[Site, Tensor]]:
    """Yield, site by site, the change of the target's log-probability without each head (H,).

    Each head is removed alone, on top of `edits`; the changes are in nats. Shapes: source_ids
    (1, S) and target_ids (1, T), the start token first; the end token is scored too. The heads of
    a layer are removed side by side in one batch. It spreads at their gates: what comes before is
    the same for all of them, and is computed for one row.
    """
    edits = edits or {}
    heads = model.config.heads
    memory_mask = model.source_mask(source_ids)

    def score(memory: Tensor, run: Run) -> Tensor:
        logits = model.decode(target_ids, memory, memory_mask, run)  # (B, T, V)
        return next_log_probabilities(logits, target_ids[0]).sum(dim=-1)  # (B,)

    memory = model.encode(source_ids, Run(edits))  # (1, S, d_model)
    whole = score(memory, Run(edits))  # (1,)
    for layer in range(model.config.encoder_layers):
        site = Site("encoder", layer)
        changed = model.encode(source_ids, Run(without_each_head(edits, [site], heads)))
        yield site, score(changed, Run(edits)) - whole
    for layer in range(model.config.decoder_layers):
        sites = [Site("decoder", layer), Site("cross", layer)]
        changes = score(memory, Run(without_each_head(edits, sites, heads))) - whole
        yield from zip(sites, changes.split(heads), strict=True)


def without_each_head(
    edits: Mapping[Site, AttentionEdit], sites: Sequence[Site], heads: int
) -> dict[Site, AttentionEdit]:
    """Return edits with a gate for every row of a batch, each of which lacks one head of `sites`.

    The rows are those of the first site's heads, then of the next one's.
    """
    without = dict(edits)
    for place, site in enumerate(sites):
        edit = edits.get(site, AttentionEdit())
        gate = torch.ones(heads) if edit.gate is None else edit.gate
        gates = gate.repeat(len(sites) * heads, 1)  # (B, H)
        gates[place * heads : (place + 1) * heads].fill_diagonal_(0)
        without[site] = replace(edit, gate=gates)
    return without
