"""One weight of one head taken apart, from the trace of the run that produced it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from model.insight.weight import Weight
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

    @property
    def exponentials(self) -> Tensor:
        """The exponentials of the masked scores minus the highest (K,); 0 if all are blocked."""
        highest = self.masked_scores.max()
        return (self.masked_scores - highest).exp() if highest.isfinite() else self.weights


@torch.inference_mode()
def take_apart(weight: Weight) -> Anatomy:
    """Follow a query to its block's output by the weight of one key, in the numbers of a run.

    Raises IndexError for a head, query or key that is not there.
    """
    trace, record = weight.run.trace, weight.record
    head, query, key = weight.head, weight.query, weight.key
    inputs, memory = read_at(trace, weight.site)
    queries, keys, width = record.query[0, head], record.key[0, head], record.query.size(-1)
    heads = record.heads[0, :, query]  # (H, D)
    output = weight.attention.output
    parts = output.weight.unflatten(1, heads.shape)  # (d_model, H, D)
    return Anatomy(
        query_input=inputs[0, query],
        key_input=memory[0, key],
        query=queries[query],
        key=keys[key],
        value=record.value[0, head, key],
        products=queries[query] * keys[key],
        scale=width**-0.5 if weight.edit.scale is None else weight.edit.scale,
        scores=record.scores[0, head, query],
        masked_scores=record.masked_scores[0, head, query],
        weights=weight.row,
        weighted_values=weight.row[:, None] * record.value[0, head],
        gate=weight.gate,
        head=heads[head],
        heads=heads,
        contributions=torch.einsum("ohd,hd->ho", parts, heads),
        bias=output.bias,
        residual=trace.residual[block_of(weight.site)],
    )


def block_of(site: Site) -> Block:
    """Return the sublayer that an attention site belongs to."""
    side = "encoder" if site.kind == "encoder" else "decoder"
    return Block(side, site.layer, "cross" if site.kind == "cross" else "self")


def read_at(trace: Trace, site: Site) -> tuple[Tensor, Tensor]:
    """Return what a site's block read (1, Q, d_model), and what it looked at (1, K, d_model)."""
    inputs = trace.residual[block_of(site)].inputs
    return inputs, trace.outputs["encoder"] if site.kind == "cross" else inputs
