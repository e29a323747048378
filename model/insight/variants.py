"""Switches that teach: what a choice of the architecture does to a visitor's own activations."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.insight.anatomy import attention_of
from model.insight.explain import ids
from model.insight.lens import stream_norms
from model.layers import Residual
from model.library.bert import Bert
from model.trace import Block, Changes, Run, Side, Site, Trace
from model.transformer import Decoder, Encoder, Transformer

NORM_ORDER_NOTE = (
    "The weights were trained in one order only: the other shows what it does to the stream, "
    "not how a model trained for it would behave."
)


@dataclass(frozen=True)
class Saturation:
    """How sharp softmaxes are: their entropy in nats, and their largest weight, each (N,)."""

    entropy: Tensor
    largest: Tensor


def saturation(weights: Tensor) -> Saturation:
    """The sharpness of rows of weights: (..., K) -> (...) each."""
    return Saturation(torch.special.entr(weights).sum(dim=-1), weights.max(dim=-1).values)


@torch.inference_mode()
def scale_sweep(query: Tensor, key: Tensor, factors: Sequence[float]) -> Saturation:
    """How sharp softmax(factor x q.k) is for each factor: a query (D,) and its keys (K, D).

    The keys are those the query may see. The model's own factor is 1 / sqrt(D); a temperature
    divides it.
    """
    scores = torch.tensor(factors, device=query.device)[:, None] * (key @ query)  # (N, K)
    return saturation(scores.softmax(dim=-1))


def width_sweep(
    widths: Sequence[int], keys: int, seed: int = 0, draws: int = 256
) -> dict[Literal["scaled", "not scaled"], Saturation]:
    """How sharp a row over so many keys is at each width of a head, on average over `draws`.

    Queries and keys are independent, of mean 0 and variance 1 in every dimension, so that q.k has
    variance D; scaled by 1 / sqrt(D) it has variance 1 at every width.
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
    found = {}
    for name, factor in (("scaled", scale), ("not scaled", 1)):
        rows = saturation((products * factor).softmax(dim=-1))  # (N, draws)
        found[name] = Saturation(rows.entropy.mean(dim=1), rows.largest.mean(dim=1))
    return found


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
    """A site's projections by a small matrix (D, d_model) for each head, and by one for all heads.

    Shapes: inputs (1, Q, d_model) are what the block read, and memory (1, K, d_model) what it
    looked at; `anatomy.read_at` gives both. Also returns the largest difference, which is rounding.
    """
    block = attention_of(model, site)
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


@dataclass(frozen=True)
class Normalized:
    """States after a norm without gain or bias, and what it divided and moved them by.

    `means` and `variances` are of each token (T,) for layer norm, of each dimension (d_model,) for
    batch norm. `changes` is the most that any number of each other token (T - 1,) moves when the
    last token is taken away.
    """

    states: Tensor  # (T, d_model)
    means: Tensor
    variances: Tensor
    changes: Tensor


@torch.inference_mode()
def layer_and_batch_norm(states: Tensor) -> tuple[Normalized, Normalized]:
    """Layer norm and batch norm of one sentence's states (1, T, d_model).

    Layer norm takes each token by itself, over its dimensions; batch norm takes each dimension by
    itself, over the tokens, so that a token changes with its neighbours.
    Sources: Ba et al. 2016, "Layer Normalization"; Ioffe and Szegedy 2015, "Batch Normalization".
    """
    return normalized(states[0], over=1), normalized(states[0], over=0)


def normalized(states: Tensor, over: int, epsilon: float = 1e-5) -> Normalized:
    """States (T, d_model) to mean 0 and variance 1 over the dimensions (1) or the tokens (0)."""

    def norm(rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        variance, mean = torch.var_mean(rows, dim=over, correction=0, keepdim=True)
        return (rows - mean) / (variance + epsilon).sqrt(), mean, variance

    result, mean, variance = norm(states)
    shorter = norm(states[:-1])[0] if len(states) > 1 else states[:0]
    changes = (result[:-1] - shorter).abs().amax(dim=1)  # (T - 1,)
    return Normalized(result, mean.flatten(), variance.flatten(), changes)


NormOrder = Literal["pre", "post"]


@torch.inference_mode()
def norm_orders(
    model: Transformer | Bert, trace: Trace, edits: Changes | None = None
) -> dict[NormOrder, dict[Side, list[tuple[str, Tensor]]]]:
    """The stream's norms, as in `stream_norms`, with the norm before each sublayer and after it.

    The order the model was trained in comes first, and is the trace's. The other is a run of the
    same weights over the same tokens, for which NORM_ORDER_NOTE holds. `edits` are those the trace
    was made with. Source: Xiong et al. 2020, "On Layer Normalization in the Transformer
    Architecture".
    """
    trained = model.config.norm
    other: NormOrder = "post" if trained == "pre" else "pre"
    run = Run(edits or {}, Trace())
    run_in_order(model, trace, other, run)
    return {
        order: {side: stream_norms(made, side) for side in made.embedding}
        for order, made in ((trained, trace), (other, run.trace))
    }


def run_in_order(model: Transformer | Bert, trace: Trace, order: NormOrder, run: Run) -> None:
    """A run over a trace's tokens with the norms before the sublayers or after the sums."""
    if isinstance(model, Bert):
        twin_in_order(model, order)(*model.inputs(trace.source_tokens), run)
        return
    encoder, decoder = in_order(model.encoder, order), in_order(model.decoder, order)
    source_ids, target_ids = ids(model, trace.source_tokens), ids(model, trace.target_tokens)
    memory_mask = model.source_mask(source_ids)
    memory = encoder(source_ids, memory_mask, run)
    decoder(target_ids, memory, model.target_mask(target_ids), memory_mask, run)


def in_order(stack: Encoder | Decoder, order: NormOrder) -> Encoder | Decoder:
    """A stack with the same weights, its norms before the sublayers or after the sums."""
    twin = twin_in_order(stack, order)
    # Pre-norm ends with a norm; weights that were trained without one get one without gain.
    embedding = twin.embedding.tokens.weight
    twin.norm = (
        nn.Identity()
        if order == "post"
        else nn.LayerNorm(embedding.size(1), device=embedding.device)
    )
    return twin


def twin_in_order(stack: nn.Module, order: NormOrder) -> nn.Module:
    """A copy with the same weights and the norms of its sublayers in this order.

    The modules are new, so that the model of all visitors stays as it is; the weights are shared.
    """
    shared = {id(tensor): tensor for tensor in (*stack.parameters(), *stack.buffers())}
    twin = copy.deepcopy(stack, shared)
    for module in twin.modules():
        if isinstance(module, Residual):
            module.norm_first = order == "pre"
    return twin


@dataclass(frozen=True)
class Activations:
    """A feed-forward's inner numbers after either activation, and the share that is exactly 0."""

    relu: Tensor  # (T, d_ff)
    gelu: Tensor  # (T, d_ff)
    relu_zeros: float
    gelu_zeros: float


@torch.inference_mode()
def pre_activations(model: Transformer | Bert, trace: Trace, side: Side, layer: int) -> Tensor:
    """What a feed-forward's first layer computes, before the activation: (T, d_ff)."""
    stack = model.encoder if side == "encoder" else model.decoder
    inputs = trace.residual[Block(side, layer, "feed_forward")].inputs
    return stack.layers[layer].feed_forward.inner(inputs)[0]


@torch.inference_mode()
def activations(inner: Tensor) -> Activations:
    """ReLU and exact GELU of the same pre-activations (T, d_ff).

    Source: Hendrycks and Gimpel 2016, "Gaussian Error Linear Units": x times the normal
    distribution's share below x, which is 0 only far below 0, by rounding.
    """
    relu, gelu = F.relu(inner), F.gelu(inner)
    zeros = [(values == 0).float().mean().item() for values in (relu, gelu)]
    return Activations(relu, gelu, *zeros)
