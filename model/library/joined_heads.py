"""Layers whose heads are modules of their own, each with its own queries, keys and values.

Such modules are given the same states, and their outputs are joined over their features. During a
call, each of them counts as an attention block (a site); after it, they are the heads of one
attention block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from headlight.model.edits.attention import of_head
from headlight.model.library.flow import Heads
from headlight.model.transformer.trace import Activations, AttentionRecord, Run, Site

STAGES = ("query", "key", "value", "scores", "masked_scores", "weights", "heads")
Joined = Mapping[Site, Sequence[Site]]  # for each layer, the sites of its heads in order


def read_the_same(heads: Sequence[Heads]) -> bool:
    """Return whether heads come from modules in one outer module that were given the same input.

    The inputs must be the same tensor objects; equal numbers are not enough.
    """
    shared = 0
    for outer in zip(*(head.path for head in heads), strict=False):
        if any(part is not outer[0] for part in outer):
            break
        shared += 1
    if any(len(head.path) == shared for head in heads):
        return False
    first, *others = (head.path[shared].states for head in heads)
    return bool(first) and all(
        len(first) == len(other) and all(map(lambda one, two: one is two, first, other))
        for other in others
    )


def join_heads(records: Sequence[AttentionRecord]) -> AttentionRecord:
    """Return the records of heads (B, 1, ...) as the record of a layer (B, H, ...).

    A stage that differs in its size between the heads, or that one of them lacks, is None.
    """
    first = records[0]
    if len(records) == 1:
        return first

    def joined(parts: Sequence[Tensor | None]) -> Tensor | None:
        known = [part for part in parts if part is not None]
        same = len(known) == len(parts) and len({part.shape for part in known}) == 1
        return torch.cat(known, dim=1) if same else None

    stages = {name: joined([getattr(record, name) for record in records]) for name in STAGES}
    if len({record.scale for record in records}) > 1:
        stages |= {"query": None, "key": None}
    bias = None
    if any(record.bias is not None for record in records):
        nothing = torch.zeros_like(first.weights)
        bias = torch.cat([nothing if x.bias is None else nothing + x.bias for x in records], dim=1)
    return replace(first, bias=bias, **stages)


@dataclass(kw_only=True, repr=False)
class ByHead(Activations):
    """A trace of single heads, which passes on each layer to another trace once it is complete."""

    trace: Activations
    joined: Joined
    known: dict[Site, AttentionRecord] = field(default_factory=dict)

    def record(self, site: Site, record: AttentionRecord) -> None:
        self.known[site] = record
        for layer, sites in self.joined.items():
            if all(head in self.known for head in sites):
                self.trace.record(layer, join_heads([self.known.pop(head) for head in sites]))


def by_head(run: Run, joined: Joined) -> Run:
    """Return a run whose edits, and whose record, have a site for each head of joined layers."""
    edits = {
        head: of_head(edit, number, len(joined[site])) if len(joined[site]) > 1 else edit
        for site, edit in run.edits.items()
        for number, head in enumerate(joined.get(site, ()))
    }
    trace = None if run.trace is None else ByHead(trace=run.trace, joined=joined)
    return replace(run, edits=edits, trace=trace)
