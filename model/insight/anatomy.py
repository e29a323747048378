"""Every number behind one attention weight, from the trace of the run that computed it."""

import math
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor

from headlight.model.edits.attention import AS_TRAINED, AttentionEdit
from headlight.model.reader import Reader
from headlight.model.stream import attention_at, block_of
from headlight.model.trace import Trace
from headlight.model.transformer.trace import (
    AttentionRecord,
    Kind,
    MaybeNone,
    ResidualRecord,
    RunEdits,
    Site,
)


class TracedRun(Protocol):
    """A run of a reader: its trace and its edits."""

    @property
    def reader(self) -> Reader:
        """The model of the run."""
        ...

    def trace(self) -> Trace:
        """Return the record of the run."""
        ...

    def streamed(self) -> Trace:
        """Return the record together with the residual stream, if the model shows it."""
        ...

    def changes(self) -> RunEdits:
        """Return the edits of the run."""
        ...

    def record(self, site: Site) -> AttentionRecord:
        """Return an attention block's record, from the trace or an equal run with more detail."""
        ...


SomeRun = TypeVar("SomeRun", bound=TracedRun)


@dataclass(frozen=True)
class Weight(Generic[SomeRun]):
    """The weight of a head's query on a key in a traced run; all indices count from 0."""

    run: SomeRun
    site: Site
    head: int
    query: int
    key: int = 0

    @property
    def cell(self) -> tuple[Kind, int, int, int, int]:
        return self.site.kind, self.site.layer, self.head, self.query, self.key

    @property
    def key_tokens(self) -> list[str]:
        return [token.text for token in self.run.trace().key_tokens(self.site)]

    @property
    def record(self) -> AttentionRecord:
        return self.run.record(self.site)

    @property
    def edit(self) -> AttentionEdit:
        return self.run.changes().get(self.site, AS_TRAINED)

    @property
    def scale(self) -> float:
        """The factor on query · key: 1 / sqrt(D), unless the model or an edit sets another."""
        record = self.record
        scale = self.edit.scale if record.scale is None else record.scale
        return record.query.size(-1) ** -0.5 if scale is None else scale

    @property
    def score_bias(self) -> Tensor | None:
        """The numbers (K,) added to the query's scaled scores, one for each key, if any."""
        record = self.record
        # T5's cross-attention adds zeros, since only its self-attention knows distances.
        if record.bias is None or not record.bias.any():
            return None
        return record.bias.expand_as(record.scores)[0, self.head, self.query]

    @property
    def row(self) -> Tensor:
        """The weights of the query on every key: (K,)."""
        return self.record.weights[0, self.head, self.query]

    @property
    def gates(self) -> Tensor:
        """The gates of the block's heads (1, H); 1 for a head that is neither off nor faded."""
        heads = self.record.weights.size(1)
        gate = self.edit.gate
        return torch.ones(1, heads) if gate is None else gate.float().expand(1, heads)

    @property
    def gate(self) -> float:
        return self.gates[0, self.head].item()


@dataclass(frozen=True)
class Anatomy:
    """All steps from a query's token to the output of its attention block, in the order computed.

    The letters of shapes are those of model/transformer/attention.py. A part that the model does
    not have, or that is not known, is None. With a softcap, scores become
    softcap * tanh(scores / softcap) before the mask.
    """

    query_input: Tensor | MaybeNone  # (d_model,) the input of the query's projection
    key_input: Tensor | MaybeNone  # (d_model,) the input of the key's and the value's projection
    rotated: bool  # True if query and key were rotated by their positions after the projection
    key_heads: int | None  # the number of key and value heads, if several heads share one
    query: Tensor  # (D,)
    key: Tensor  # (D,)
    value: Tensor  # (Dv,); with latent attention, Dv is smaller than D
    products: Tensor  # (D,) query times key, number by number
    dots: Tensor  # (K,) the dot products of the query with every key
    scale: float  # the factor on the dot products
    score_bias: Tensor | None  # (K,) added to the scaled dot products, for the distances of keys
    softcap: float | None
    scores: Tensor  # (K,) the scaled scores of the query with every key
    masked_scores: Tensor  # (K,)
    # the score of the attention sink: one more score in the softmax, which belongs to no key
    sink: float | None
    weights: Tensor  # (K,)
    weighted_values: Tensor  # (K, Dv), each value times its weight
    gate: float  # the head's gate: 1, unless the head was switched off or faded
    head: Tensor  # (Dv,) the sum of the weighted values times the gate
    heads: Tensor  # (H, Dv) the outputs of all heads, which the output projection reads
    # (H, d_model) each head's part of the output projection's output
    contributions: Tensor | MaybeNone
    # (d_model,) the output projection's bias; None in models of the transformers library
    bias: Tensor | None
    residual: ResidualRecord | MaybeNone  # the residual stream of the block, for all positions

    @property
    def dot(self) -> float:
        return self.products.sum().item()

    @property
    def is_divided(self) -> bool:
        """True if the scale is 1 / sqrt(D), as in most models."""
        return math.isclose(self.scale, len(self.query) ** -0.5, rel_tol=1e-5)

    @property
    def exponentials(self) -> Tensor:
        """exp(masked score - highest score) for each key (K,); 0 for blocked keys."""
        return (self.masked_scores - self.highest).exp()

    @property
    def total(self) -> float:
        """The denominator of the softmax: the sum of the exponentials, including the sink's."""
        sink = 0.0 if self.sink is None else math.exp(self.sink - self.highest)
        return self.exponentials.sum().item() + sink

    @property
    def highest(self) -> float:
        """The highest score in the softmax; 0 if all keys are blocked."""
        highest = self.masked_scores.max().item()
        highest = highest if self.sink is None else max(highest, self.sink)
        return highest if math.isfinite(highest) else 0.0


@torch.inference_mode()
def take_apart(weight: Weight) -> Anatomy:
    """Return all steps before and after one weight, with the numbers of its run.

    Raises IndexError for a head, query or key that does not exist.
    """
    reader, trace, record = weight.run.reader, weight.run.streamed(), weight.record
    site, head, query, key = weight.site, weight.head, weight.query, weight.key
    inputs, memory = read_at(trace, site)
    queries, keys = record.query[0, head], record.key[0, head]
    heads = record.heads[0, :, query]  # (H, Dv)
    parts = reader.heads_to_stream(site)  # (H, Dv, d_model)
    own = "own layers" not in reader.missing
    return Anatomy(
        query_input=None if inputs is None else inputs[0, query],
        key_input=None if memory is None else memory[0, key],
        rotated=record.rotated,
        key_heads=record.key_heads,
        query=queries[query],
        key=keys[key],
        value=record.value[0, head, key],
        products=queries[query] * keys[key],
        dots=keys @ queries[query],
        scale=weight.scale,
        score_bias=weight.score_bias,
        softcap=record.softcap,
        scores=record.scores[0, head, query],
        masked_scores=record.masked_scores[0, head, query],
        sink=None if record.sinks is None else record.sinks[head].item(),
        weights=weight.row,
        weighted_values=weight.row[:, None] * record.value[0, head],
        gate=weight.gate,
        head=heads[head],
        heads=heads,
        contributions=None if parts is None else torch.einsum("hdo,hd->ho", parts, heads),
        bias=attention_at(reader.model, site).output.bias if own else None,
        residual=trace.residual.get(block_of(site)),
    )


def read_at(trace: Trace, site: Site) -> tuple[Tensor | MaybeNone, Tensor | MaybeNone]:
    """Return the states that give a block's queries (1, Q, d_model), and its keys (1, K, d_model).

    States that were not recorded are None.
    """
    residual = trace.residual.get(block_of(site))
    inputs = None if residual is None else residual.inputs
    return inputs, trace.outputs.get("encoder") if site.kind == "cross" else inputs
