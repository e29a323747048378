"""Small projections for each head, or one that is fused for all heads."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from model.library.bert import Bert
from model.trace import Site
from model.transformer import Transformer


@dataclass(frozen=True)
class Projections:
    """The queries, keys and values of all heads, each (H, Q or K, D)."""

    query: Tensor
    key: Tensor
    value: Tensor


@torch.inference_mode()
def separate_heads(
    model: Transformer | Bert, site: Site, inputs: Tensor, memory: Tensor
) -> tuple[Projections, Projections, float]:
    """Return a site's projections by a small matrix (D, d_model) a head, and by one for all.

    Shapes: inputs (1, Q, d_model) are what the block read, and memory (1, K, d_model) what it
    looked at; `anatomy.read_at` gives both. Also returns the largest difference, which is rounding.
    """
    block = model.attention_at(site)
    read = {"query": inputs, "key": memory, "value": memory}
    separate, fused = {}, {}
    for name, states in read.items():
        layer = getattr(block, name)
        # A head owns the rows of the weight that make its own D numbers.
        parts = zip(layer.weight.chunk(block.heads), layer.bias.chunk(block.heads), strict=True)
        separate[name] = torch.stack(
            [F.linear(states[0], weight, bias) for weight, bias in parts]
        )  # (H, Q or K, D)
        fused[name] = block.split(layer(states))[0]
    difference = max((separate[name] - fused[name]).abs().max().item() for name in read)
    return Projections(**separate), Projections(**fused), difference
