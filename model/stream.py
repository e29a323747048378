"""The decoder's residual stream as a sum of parts, and how logits are read from it."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from headlight.model.trace import Block, Site, Trace
from headlight.model.transformer import Transformer

# What is left in sums, as a part of the largest number.
ROUNDING = {torch.float32: 1e-4, torch.float16: 4e-3, torch.bfloat16: 3e-2}


@dataclass(frozen=True)
class FrozenNorm:
    """A norm with the scale of one run held fixed, which makes it a linear map plus a bias.

    Row t of the outputs is scales[t] * gain * (states[t], minus its mean if `centered`) + bias.
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
        """Return the direction in a row of states that matches `read` (d_model) in the outputs."""
        direction = read * self.gain * self.scales[row]
        return direction - direction.mean() if self.centered else direction


@dataclass(frozen=True)
class DecoderStream:
    """The parts of a pre-norm decoder's residual stream before its last norm.

    `states` are the sum of the embedding, the contributions of all heads, the biases of their
    output projections, and the outputs of all feed-forwards. The logits are the output layer of the
    norm of `states`, plus a bias.
    """

    embedding: Tensor  # (T, d_model)
    projection_biases: Mapping[Site, Tensor]  # (d_model,)
    feed_forwards: Tensor  # (layers, T, d_model)
    states: Tensor  # (T, d_model)
    norm: FrozenNorm
    outputs: Tensor  # (T, d_model), which the output layer reads
    unembedding: Tensor  # (V, d_model), the output layer's weight
    logits: Tensor  # (T, V)


def stream_of(model: Transformer, recorded: Trace) -> DecoderStream:
    """Return the parts of the decoder's stream in a recorded run of our own pre-norm model."""
    layers = range(model.config.decoder_layers)
    blocks = [recorded.residual[Block("decoder", layer, "feed_forward")] for layer in layers]
    sites = [site for site in model.config.shape.sites if site.kind != "encoder"]
    states, outputs = blocks[-1].outputs[0], recorded.outputs["decoder"][0]
    gain, bias = model.decoder.norm.weight.detach(), model.decoder.norm.bias.detach()
    return DecoderStream(
        embedding=recorded.embedding["decoder"].states[0],
        projection_biases={site: model.attention_at(site).output.bias for site in sites},
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
    scales = ((outputs - bias) * plain).sum(-1) / plain.square().sum(-1)  # least squares
    return FrozenNorm(scales, gain, bias, centered)


def is_close(
    numbers: Tensor, expected: Tensor, dtype: torch.dtype = torch.float32, of: Tensor | None = None
) -> bool:
    """Return whether two tensors of one shape are equal, except for the rounding of a dtype.

    If they are differences of larger numbers, `of` has those, whose rounding they have.
    """
    largest = (expected if of is None else of).abs().max().clamp(min=1e-6)
    return bool((numbers - expected).abs().max() <= ROUNDING[dtype] * largest)


def precise(numbers: Tensor) -> Tensor:
    """Return numbers as float64, or as float32 on a device that has no other."""
    return numbers.float() if numbers.device.type == "mps" else numbers.double()
