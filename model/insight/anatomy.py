"""One weight of one head taken apart, from the trace of the run that produced it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from model.insight.focus import Focus
from model.trace import Block, ResidualRecord, Site, Trace


@dataclass(frozen=True)
class Anatomy:
    """Everything between a query's token and what its attention block adds, fields in order.

    Letters as in model/attention.py; `gate` is 1 for a head that was not switched off or faded.
    """

    query_input: Tensor  # (d_model,) what the query was projected from
    key_input: Tensor  # (d_model,) what the key and the value were projected from
    query: Tensor  # (D,)
    key: Tensor  # (D,)
    value: Tensor  # (D,)
    products: Tensor  # (D,) query times key, number by number
    scale: float  # that their sum was multiplied by
    scores: Tensor  # (K,) of the query with every key, scaled
    masked_scores: Tensor  # (K,)
    weights: Tensor  # (K,)
    weighted_values: Tensor  # (K, D), each value times its weight
    gate: float
    head: Tensor  # (D,) their sum times the gate
    heads: Tensor  # (H, D), concatenated for the output projection
    contributions: Tensor  # (H, d_model): what each head adds by its part of that projection
    bias: Tensor  # (d_model,) of the projection
    residual: ResidualRecord  # of the whole block, for all positions

    @property
    def dot(self) -> float:
        """The sum of the products."""
        return self.products.sum().item()


@torch.inference_mode()
def take_apart(focus: Focus, key: int) -> Anatomy:
    """Follow one query to its block's output by one key's weight, in the numbers of a trace.

    Raises IndexError for a head, query or key that is not there.
    """
    record, head, query = focus.record, focus.head, focus.query
    inputs, memory = read_at(focus.trace, focus.site)
    queries, keys, width = record.query[0, head], record.key[0, head], record.query.size(-1)
    heads = record.heads[0, :, query]  # (H, D)
    output = focus.attention.output
    parts = output.weight.unflatten(1, heads.shape)  # (d_model, H, D)
    return Anatomy(
        query_input=inputs[0, query],
        key_input=memory[0, key],
        query=queries[query],
        key=keys[key],
        value=record.value[0, head, key],
        products=queries[query] * keys[key],
        scale=width**-0.5 if focus.edit.scale is None else focus.edit.scale,
        scores=record.scores[0, head, query],
        masked_scores=record.masked_scores[0, head, query],
        weights=focus.weights,
        weighted_values=focus.weights[:, None] * record.value[0, head],
        gate=focus.gate,
        head=heads[head],
        heads=heads,
        contributions=torch.einsum("ohd,hd->ho", parts, heads),
        bias=output.bias,
        residual=focus.trace.residual[block_of(focus.site)],
    )


def block_of(site: Site) -> Block:
    """Return the sublayer that an attention site belongs to."""
    side = "encoder" if site.kind == "encoder" else "decoder"
    return Block(side, site.layer, "cross" if site.kind == "cross" else "self")


def read_at(trace: Trace, site: Site) -> tuple[Tensor, Tensor]:
    """Return what a site's block read (1, Q, d_model), and what it looked at (1, K, d_model)."""
    inputs = trace.residual[block_of(site)].inputs
    return inputs, trace.outputs["encoder"] if site.kind == "cross" else inputs
