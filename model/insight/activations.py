"""What either activation makes of the same numbers of a feed-forward network."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from model.library.bert import Bert
from model.trace import Block, Side, Trace
from model.transformer import Transformer


@dataclass(frozen=True)
class Activations:
    """A feed-forward's inner numbers after either activation, and the share that is exactly 0."""

    relu: Tensor  # (T, d_ff)
    gelu: Tensor  # (T, d_ff)
    relu_zeros: float
    gelu_zeros: float


@torch.inference_mode()
def pre_activations(model: Transformer | Bert, trace: Trace, side: Side, layer: int) -> Tensor:
    """Return what a feed-forward's first layer computes, before the activation: (T, d_ff)."""
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
