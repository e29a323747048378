"""What a run's numbers would be with another scale, activation, norm, or form of projections."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from headlight.model.insight.anatomy import Anatomy
from headlight.model.insight.lens import stream_norms
from headlight.model.library.bert import Bert
from headlight.model.library.pieces import as_pieces
from headlight.model.tokens import token_ids
from headlight.model.trace import Trace
from headlight.model.transformer.attention import MultiHeadAttention
from headlight.model.transformer.layers import Residual
from headlight.model.transformer.trace import Block, Run, RunEdits, Side
from headlight.model.transformer.transformer import Decoder, Encoder, Transformer

EPSILON = 1e-5
NormOrder = Literal["pre", "post"]
NORM_ORDER_NOTE = (
    "The weights were trained with one order of norms. The other curve shows the effect of the "
    "order on the stream, not how a model trained that way would behave."
)


@dataclass(frozen=True)
class Saturation:
    """How sharp N softmaxes are: their entropy in nats, and their largest weight, each (N,)."""

    entropy: Tensor
    largest: Tensor


def saturation(weights: Tensor) -> Saturation:
    """Return the entropy (...) and the largest weight (...) of each row of weights (..., K)."""
    return Saturation(torch.special.entr(weights).sum(dim=-1), weights.max(dim=-1).values)


@torch.inference_mode()
def rescaled(part: Anatomy, factor: float | Tensor) -> Tensor:
    """Return a query's weights (..., K) when its dot products are multiplied by a factor (..., 1).

    Bias, softcap, mask and sink stay as in the model. With the factor `part.scale` the weights are
    the model's own. If all keys are blocked, all weights are 0.
    """
    scores = part.dots * factor
    if part.score_bias is not None:
        scores = scores + part.score_bias
    if part.softcap is not None:
        scores = part.softcap * torch.tanh(scores / part.softcap)
    scores = scores + (part.masked_scores - part.scores)
    if part.sink is not None:
        scores = torch.cat([scores, torch.full_like(scores[..., :1], part.sink)], dim=-1)
    return scores.softmax(dim=-1)[..., : len(part.dots)].nan_to_num()


def scale_sweep(part: Anatomy, factors: Sequence[float]) -> Saturation:
    """Return how sharp a query's weights are with each of the factors in place of the scale.

    A temperature t has the same effect as a factor divided by t.
    """
    return saturation(rescaled(part, torch.tensor(factors, device=part.dots.device)[:, None]))


def width_sweep(
    widths: Sequence[int], keys: int, seed: int = 0, draws: int = 256
) -> dict[Literal["scaled", "not scaled"], Saturation]:
    """Return how sharp random weights over `keys` keys are on average, for each head width.

    Queries and keys are drawn with mean 0 and variance 1 in every dimension, so that q.k has
    variance D (the width); scaled by 1 / sqrt(D) it has variance 1 at every width.
    Source: "Attention Is All You Need", section 3.2.1, footnote 4.
    """
    generator = torch.Generator().manual_seed(seed)
    scores = []
    for width in widths:
        query = torch.randn(draws, width, 1, generator=generator)
        key = torch.randn(draws, keys, width, generator=generator)
        scores.append((key @ query)[..., 0])
    products = torch.stack(scores)  # (N, draws, K)
    scale = torch.tensor(widths)[:, None, None] ** -0.5
    by_name = {}
    for name, factor in (("scaled", scale), ("not scaled", 1)):
        rows = saturation((products * factor).softmax(dim=-1))  # (N, draws)
        by_name[name] = Saturation(rows.entropy.mean(dim=1), rows.largest.mean(dim=1))
    return by_name


@dataclass(frozen=True)
class Activations:
    """A feed-forward network's numbers after ReLU and GELU, and the shares that are exactly 0."""

    relu: Tensor  # (T, d_ff)
    gelu: Tensor  # (T, d_ff)
    relu_zeros: float
    gelu_zeros: float


@torch.inference_mode()
def pre_activations(model: Transformer | Bert, trace: Trace, side: Side, layer: int) -> Tensor:
    """Return the numbers (T, d_ff) to which a feed-forward network applies its activation."""
    inputs = trace.residual[Block(side, layer, "feed_forward")].inputs
    return getattr(model, side).layers[layer].feed_forward.inner(inputs)[0]


@torch.inference_mode()
def activations(inner: Tensor) -> Activations:
    """Return ReLU and exact GELU of the same numbers (T, d_ff) before an activation.

    GELU is x times the share of the normal distribution below x; its result rounds to 0 only for x
    far below 0. Source: Hendrycks and Gimpel 2016, "Gaussian Error Linear Units".
    """
    relu, gelu = F.relu(inner), F.gelu(inner)
    zeros = [(values == 0).float().mean().item() for values in (relu, gelu)]
    return Activations(relu, gelu, *zeros)


@dataclass(frozen=True)
class Normalized:
    """States after a norm without gain or bias.

    `changes` says, for each token except the last, by how much its numbers change at most if the
    last token is removed.
    """

    states: Tensor  # (T, d_model)
    changes: Tensor  # (T - 1,)


@torch.inference_mode()
def layer_and_batch_norm(states: Tensor) -> tuple[Normalized, Normalized]:
    """Return layer norm and batch norm of one sentence's states (1, T, d_model).

    Layer norm normalizes each token over its dimensions; batch norm normalizes each dimension over
    the tokens, so that the result for one token depends on the other tokens.
    Sources: Ba et al. 2016, "Layer Normalization"; Ioffe and Szegedy 2015, "Batch Normalization".
    """
    return normalized(states[0], over=1), normalized(states[0], over=0)


def normalized(states: Tensor, over: int) -> Normalized:
    """Return states (T, d_model) normalized over dimensions (`over` = 1) or tokens (`over` = 0)."""

    def norm(rows: Tensor) -> Tensor:
        variance, mean = torch.var_mean(rows, dim=over, correction=0, keepdim=True)
        return (rows - mean) / (variance + EPSILON).sqrt()

    result = norm(states)
    shorter = norm(states[:-1]) if len(states) > 1 else states[:0]
    return Normalized(result, (result[:-1] - shorter).abs().amax(dim=1))


@torch.inference_mode()
def norm_orders(
    model: Transformer | Bert, trace: Trace, edits: RunEdits | None = None
) -> dict[NormOrder, dict[Side, list[tuple[str, Tensor]]]]:
    """Return the `stream_norms` for norms before each sublayer, and for norms after each.

    First come those of the trace, with the order in which the model was trained. Those of the other
    order are from a run with the same weights, tokens and `edits`; see NORM_ORDER_NOTE.
    Source: Xiong et al. 2020, "On Layer Normalization in the Transformer Architecture".
    """
    other: NormOrder = "post" if model.config.norm == "pre" else "pre"
    traces: dict[NormOrder, Trace] = {model.config.norm: trace, other: Trace()}
    run_in_order(model, trace, other, Run(edits or {}, traces[other]))
    return {
        order: {side: stream_norms(recorded, side) for side in recorded.embedding}
        for order, recorded in traces.items()
    }


def run_in_order(model: Transformer | Bert, trace: Trace, order: NormOrder, run: Run) -> None:
    """Run a model over a trace's tokens, with norms in this order; `run` records the numbers."""
    if isinstance(model, Bert):
        twin_in_order(model, order)(*model.inputs(as_pieces(trace.source_tokens)), run)
        return
    target_ids, memory, memory_mask = token_ids(trace.target_tokens, model.device), None, None
    if trace.source_tokens:
        source_ids = token_ids(trace.source_tokens, model.device)
        memory_mask = model.source_mask(source_ids)
        memory = in_order(model.encoder, order)(source_ids, memory_mask, run)
    decoder = in_order(model.decoder, order)
    decoder(target_ids, memory, model.target_mask(target_ids), memory_mask, run)


def in_order(stack: Encoder | Decoder, order: NormOrder) -> Encoder | Decoder:
    """Return a stack with the same weights, and norms before each sublayer or after each sum."""
    twin: Any = twin_in_order(stack, order)
    # A pre-norm stack ends with a norm, which is new and untrained here; post-norm has none.
    embedding = twin.embedding.tokens.weight
    twin.norm = (
        nn.Identity()
        if order == "post"
        else nn.LayerNorm(embedding.size(1), device=embedding.device)
    )
    return twin


def twin_in_order(stack: nn.Module, order: NormOrder) -> nn.Module:
    """Return a copy of a stack whose sublayers have their norms in this order.

    The modules are copied, so that the shared model stays unchanged. The weights are not copied.
    """
    shared = {id(tensor): tensor for tensor in (*stack.parameters(), *stack.buffers())}
    twin = copy.deepcopy(stack, shared)
    for module in twin.modules():
        if isinstance(module, Residual):
            module.norm_first = order == "pre"
    return twin


@dataclass(frozen=True)
class Projections:
    """The queries, keys and values of all heads, each (H, Q or K, D)."""

    query: Tensor
    key: Tensor
    value: Tensor


@torch.inference_mode()
def separate_heads(
    block: MultiHeadAttention, inputs: Tensor, memory: Tensor
) -> tuple[Projections, Projections, float]:
    """Return a block's projections computed head by head, and by one matrix for all heads.

    The block read `inputs` (1, Q, d_model) and attended to `memory` (1, K, d_model), both from
    `anatomy.read_at`. A head's matrix is (D, d_model). Also return the largest difference of the
    two results, which comes only from rounding.
    """
    read = {"query": inputs, "key": memory, "value": memory}
    separate, fused = {}, {}
    for name, states in read.items():
        layer = getattr(block, name)
        # Each head uses D rows of the fused matrix: the rows that compute its numbers.
        parts = zip(layer.weight.chunk(block.heads), layer.bias.chunk(block.heads), strict=True)
        separate[name] = torch.stack(
            [F.linear(states[0], weight, bias) for weight, bias in parts]
        )  # (H, Q or K, D)
        fused[name] = block.split(layer(states))[0]
    difference = max((separate[name] - fused[name]).abs().max().item() for name in read)
    return Projections(**separate), Projections(**fused), difference
