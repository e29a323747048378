"""One query of one head in one run: what is taken apart and explained."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from model.attention import UNCHANGED, MultiHeadAttention
from model.library.bert import Bert
from model.trace import AttentionEdit, AttentionRecord, RunEdits, Site, Trace
from model.transformer import Transformer


@dataclass(frozen=True, eq=False)
class Focus:
    """A query of a head in a traced run; everything counts from 0.

    `edits` are those the trace was made with.
    """

    model: Transformer | Bert
    trace: Trace
    site: Site
    head: int
    query: int
    edits: RunEdits = field(default_factory=dict)

    @property
    def record(self) -> AttentionRecord:
        """What the trace recorded at the site."""
        return self.trace.attention[self.site]

    @property
    def edit(self) -> AttentionEdit:
        """What a visitor changed at the site."""
        return self.edits.get(self.site, UNCHANGED)

    @property
    def attention(self) -> MultiHeadAttention:
        """The module that computes the site."""
        return attention_of(self.model, self.site)

    @property
    def weights(self) -> Tensor:
        """The weights of the query on every key: (K,)."""
        return self.record.weights[0, self.head, self.query]

    @property
    def gates(self) -> Tensor:
        """The gates of the site's heads (1, H); 1 for a head that is neither off nor faded."""
        heads = self.record.weights.size(1)
        gate = self.edit.gate
        return torch.ones(1, heads) if gate is None else gate.float().expand(1, heads)

    @property
    def gate(self) -> float:
        """The gate of the head."""
        return self.gates[0, self.head].item()


def attention_of(model: Transformer | Bert, site: Site) -> MultiHeadAttention:
    """Return the module that computes a site."""
    if site.kind == "encoder":
        return model.encoder.layers[site.layer].attention
    layer = model.decoder.layers[site.layer]
    return layer.self_attention if site.kind == "decoder" else layer.cross_attention
