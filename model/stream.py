"""The residual stream, and all that is read from it, as sums over the parts of a model.

A norm is linear if its scales are held fixed at those of one run. If all norms are, the logits, the
inputs of a block, and each of its queries and keys are sums over the parts that wrote before.
Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits".
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, cast

import torch
from torch import Tensor, nn

from headlight.model.shape import shape_of
from headlight.model.trace import Trace
from headlight.model.transformer.attention import MultiHeadAttention
from headlight.model.transformer.layers import Residual
from headlight.model.transformer.trace import (
    AttentionRecord,
    Block,
    EmbeddingRecord,
    Kind,
    MaybeNone,
    Side,
    Site,
)
from headlight.model.transformer.transformer import Transformer

# The largest rounding error of a sum, as a share of its largest number.
ROUNDING = {torch.float32: 1e-4, torch.float16: 4e-3, torch.bfloat16: 3e-2}


def block_of(site: Site) -> Block:
    """Return the sublayer that an attention block is in."""
    side = "encoder" if site.kind == "encoder" else "decoder"
    return Block(side, site.layer, "cross" if site.kind == "cross" else "self")


def attention_at(model: Transformer, site: Site) -> MultiHeadAttention:
    """Return the module of an attention block in this project's own model."""
    layers: Any = model.encoder.layers if site.kind == "encoder" else model.decoder.layers
    layer = layers[site.layer]
    if site.kind == "encoder":
        return layer.attention
    return layer.self_attention if site.kind == "decoder" else layer.cross_attention


def output_maps(attention: MultiHeadAttention) -> Tensor:
    """Return the map from each head's output to the stream: (H, D, d_model)."""
    return attention.output.weight.T.unflatten(0, (attention.heads, -1))


@dataclass(frozen=True)
class FrozenNorm:
    """A norm whose scales are held fixed at those of one run: a linear map plus a bias.

    Row t of the outputs is scales[t] * gain * states[t] + bias, where a `centered` norm subtracts
    its mean from states[t] first.
    """

    scales: Tensor  # (T,)
    gain: Tensor  # (d_model,)
    bias: Tensor  # (d_model,)
    centered: bool

    def outputs(self, states: Tensor) -> Tensor:
        """(T, d_model) -> (T, d_model)."""
        plain = self.gain * (states - states.mean(-1, keepdim=True) if self.centered else states)
        return self.scales[:, None] * plain + self.bias

    def directions(self, read: Tensor, row: int) -> Tensor:
        """Return the vector whose product with states[row] is that of `read` with outputs[row].

        Both are (d_model,); the norm's bias is left out.
        """
        direction = read * self.gain * self.scales[row]
        return direction - direction.mean() if self.centered else direction


@dataclass(frozen=True)
class DecoderStream:
    """The parts of a pre-norm decoder's residual stream before its last norm.

    `states` are the sum of the embedding, what all heads write, the biases of their output
    projections, and the outputs of all feed-forward layers. `outputs` are the norm of `states`, and
    the logits are `unembedding` times `outputs`, plus a bias in some models.
    """

    embedding: Tensor  # (T, d_model)
    projection_biases: Mapping[Site, Tensor]  # (d_model,) each
    feed_forwards: Tensor  # (layers, T, d_model)
    states: Tensor  # (T, d_model)
    norm: FrozenNorm
    outputs: Tensor  # (T, d_model), which the output layer reads
    unembedding: Tensor  # (V, d_model), the output layer's weight
    logits: Tensor  # (T, V)


def stream_of(model: Transformer, recorded: Trace) -> DecoderStream:
    """Return the parts of the decoder's stream in a recorded run of a pre-norm Transformer."""
    layers = range(model.config.decoder_layers)
    blocks = [recorded.residual[Block("decoder", layer, "feed_forward")] for layer in layers]
    sites = [site for site in shape_of(model.config).sites if site.kind != "encoder"]
    states, outputs = blocks[-1].outputs[0], recorded.outputs["decoder"][0]
    norm = cast(nn.LayerNorm, model.decoder.norm)  # every pre-norm model has a LayerNorm here
    gain, bias = norm.weight.detach(), norm.bias.detach()
    return DecoderStream(
        embedding=recorded.embedding["decoder"].states[0],
        projection_biases={site: attention_at(model, site).output.bias for site in sites},
        feed_forwards=torch.stack([block.change[0] for block in blocks]),
        states=states,
        norm=freeze(states, outputs, gain, bias, centered=True),
        outputs=outputs,
        unembedding=model.output.weight,
        logits=recorded.logits[0],
    )


def freeze(
    states: Tensor, outputs: Tensor, gain: Tensor, bias: Tensor, *, centered: bool
) -> FrozenNorm:
    """Return a norm with the scales (T,) of a run in which it mapped `states` to `outputs`.

    Shapes: states and outputs (T, d_model), gain and bias (d_model,).
    """
    plain = gain * (states - states.mean(-1, keepdim=True) if centered else states)
    scales = ((outputs - bias) * plain).sum(-1) / plain.square().sum(-1)  # the least-squares fit
    return FrozenNorm(scales, gain, bias, centered)


def is_close(
    numbers: Tensor, expected: Tensor, dtype: torch.dtype = torch.float32, of: Tensor | None = None
) -> bool:
    """Return whether two tensors of one shape are equal up to the rounding of a dtype.

    If they are sums or differences of larger numbers, pass these as `of`: rounding errors are as
    large as those numbers allow.
    """
    largest = (expected if of is None else of).abs().max().clamp(min=1e-6)
    return bool((numbers - expected).abs().max() <= ROUNDING[dtype] * largest)


def precise(numbers: Tensor) -> Tensor:
    """Return numbers as float64, or as float32 on a device that has no float64."""
    return numbers.float() if numbers.device.type == "mps" else numbers.double()


class Part(NamedTuple):
    """A part of the model that writes into the stream, such as a head or a layer's feed-forward."""

    name: Literal["embedding", "segment", "position", "head", "feed-forward", "memory", "biases"]
    kind: Kind | MaybeNone = None
    layer: int | MaybeNone = None
    head: int | MaybeNone = None


BIASES = Part("biases")  # the biases of all projections and norms together
MEMORY = Part("memory")  # an encoder's output, if its own parts are not known

# The vector that each part wrote, BIASES included; the vectors sum to the state of the stream.
Parts = Mapping[Part, Tensor]
# takes vectors (N, D) and returns vectors (N, E) of another width
Linear = Callable[[Tensor], Tensor]


class ScoreAddress(NamedTuple):
    """Which score is meant: its attention block, head, query and key; indices count from 0."""

    site: Site
    head: int
    query: int
    key: int


@dataclass
class HeadsTrace(Trace):
    """A trace that keeps the outputs of heads at a few tokens only, which saves memory."""

    tokens: Mapping[Side, Sequence[int]] = field(default_factory=dict)
    heads: dict[tuple[Site, int], Tensor] = field(default_factory=dict)  # (H, D) by site and token

    @classmethod
    def behind(cls, score: ScoreAddress) -> "HeadsTrace":
        """Return a trace that keeps the heads' outputs at the tokens of a score's query and key."""
        if score.site.kind == "cross":
            return cls(tokens={"decoder": [score.query], "encoder": [score.key]})
        return cls(tokens={block_of(score.site).side: [score.query, score.key]})

    def record(self, site: Site, record: AttentionRecord) -> None:
        for token in self.tokens.get(block_of(site).side, ()):
            self.heads[site, token] = record.heads[0, :, token].clone()


def through(parts: Parts, linear: Linear, constant: Tensor) -> Parts:
    """Apply a linear map to each part, and add a constant to the biases, which come last."""
    vectors = dict(zip(parts, linear(torch.stack([*parts.values()])), strict=True))
    biases = vectors.pop(BIASES) + constant
    return {**vectors, BIASES: biases}


def through_norm(parts: Parts, held: FrozenNorm) -> Parts:
    """Return the parts of a token's vector after a norm with fixed scales."""
    return through(parts, lambda vectors: held.outputs(vectors) - held.bias, held.bias)


def hold(norm: nn.LayerNorm, states: Tensor, outputs: Tensor) -> FrozenNorm:
    """Return a norm with the scale with which it mapped `states` to `outputs`, both (d_model,)."""
    both = precise(states)[None], precise(outputs)[None]
    return freeze(*both, precise(norm.weight), precise(norm.bias), centered=True)


def written(parts: Parts, site: Site, heads: Tensor, to_stream: Tensor, bias: Tensor) -> Parts:
    """Add to `parts` what an attention block's heads (H, D) write; see `Reader.heads_to_stream`."""
    vectors = torch.einsum("hd,hdo->ho", precise(heads), precise(to_stream))
    names = (Part("head", *site, head) for head in range(len(vectors)))
    more = dict(zip(names, vectors, strict=True))
    return {**parts, **more, BIASES: parts[BIASES] + precise(bias)}


def own_parts(model: Transformer, trace: HeadsTrace, score: ScoreAddress) -> tuple[Parts, Parts]:
    """Return the parts of a score's query and key, each (D,), in a run of this project's model."""
    site, head = score.site, score.head
    attention, block = attention_at(model, site), block_of(site)

    def projected(token: int, end: Block | None, projection: nn.Linear) -> Parts:
        weight, bias = (
            precise(part).unflatten(0, (attention.heads, -1))[head]
            for part in (projection.weight, projection.bias)
        )
        read = parts_read(model, trace, token, end)
        return through(read, lambda vectors: vectors @ weight.T, bias)

    query = projected(score.query, block, attention.query)
    return query, projected(score.key, None if site.kind == "cross" else block, attention.key)


def parts_read(model: Transformer, trace: HeadsTrace, token: int, end: Block | None) -> Parts:
    """Return the parts of what the block `end` reads at a token.

    If `end` is None, these are the parts of the encoder's output.
    """
    side = end.side if end else "encoder"
    stack, pre = getattr(model, side), model.config.norm == "pre"
    norms = {part.block: part.norm for part in stack.modules() if isinstance(part, Residual)}
    parts = embedded(trace.embedding[side], token, stack.norm)
    for block, record in trace.residual.items():
        if block.side != side:
            continue
        states, change = record.states[0, token], record.change[0, token]
        if block == end:
            inputs = record.inputs[0, token]
            return through_norm(parts, hold(norms[block], states, inputs)) if pre else parts
        if block.part == "feed_forward":
            parts = {**parts, Part("feed-forward", layer=block.layer): precise(change)}
        else:
            site = Site("cross" if block.part == "cross" else side, block.layer)
            module = attention_at(model, site)
            heads, bias = trace.heads[site, token], module.output.bias
            parts = written(parts, site, heads, output_maps(module), bias)
        states = states + change
        if not pre:
            parts = through_norm(parts, hold(norms[block], states, record.outputs[0, token]))
    if not pre:
        return parts
    return through_norm(parts, hold(stack.norm, states, trace.outputs[side][0, token]))


def embedded(record: EmbeddingRecord, token: int, norm: nn.LayerNorm) -> Parts:
    """Return the parts of a token's vector before the first layer, such as its embedding."""
    scaled, position = precise(record.scaled[0, token]), precise(record.positions[token])
    parts = {Part("embedding"): scaled, BIASES: torch.zeros_like(scaled)}
    if record.segments is not None:
        parts[Part("segment")] = precise(record.segments[0, token])
    if position.any():
        parts[Part("position")] = position
    if record.segments is None:
        return parts
    states = sum(parts.values(), torch.zeros_like(scaled))
    return through_norm(parts, hold(norm, states, record.states[0, token]))
