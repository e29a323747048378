"""The device and memory layout of a finished model; they only affect its speed."""

from collections.abc import Iterable
from typing import cast

import torch
from torch import Tensor, nn

from headlight.model.linear import packed
from headlight.model.transformer.attention import MultiHeadAttention
from headlight.model.transformer.layers import DecoderLayer, EncoderLayer
from headlight.model.transformer.transformer import Transformer

HALF = (torch.float16, torch.bfloat16)


class FusedAttention(MultiHeadAttention):
    """Self-attention with the weights of another, whose query, key and value are one product."""

    def __init__(self, plain: MultiHeadAttention) -> None:
        nn.Module.__init__(self)  # without weights of its own
        self.site, self.heads, self.width = plain.site, plain.heads, plain.width
        parts = self.query, self.key, self.value = plain.query, plain.key, plain.value
        self.output = plain.output
        self.fused = nn.Linear(plain.query.in_features, 3 * plain.query.out_features)
        set_weight(self.fused, torch.cat([part.weight for part in parts]))
        del self.fused.bias
        bias = torch.cat([part.bias for part in parts]).detach()
        self.fused.register_buffer("bias", bias, persistent=False)

    def projections(self, states: Tensor, memory: Tensor) -> tuple[Tensor, ...]:
        return self.split(self.fused(states)).chunk(3, dim=1)


def lay_out(model: Transformer) -> Transformer:
    """Lay out a model's weights in memory for decoding; it can no longer be trained.

    Stored column by column, a product with one row or a few takes at most half of the time, and a
    self-attention's query, key and value are one product. An output layer that is tied to the
    embedding becomes a copy of it.
    """
    if model.config.tie_embeddings:
        set_weight(model.output, model.output.weight)
    for layer in cast(Iterable[EncoderLayer], model.encoder.layers):
        layer.attention = FusedAttention(layer.attention)
    for layer in cast(Iterable[DecoderLayer], model.decoder.layers):
        layer.self_attention = FusedAttention(layer.self_attention)
    for module in model.modules():
        if isinstance(module, nn.Linear) and module.weight.requires_grad:
            module.weight = nn.Parameter(by_columns(module.weight), requires_grad=False)
    return model


def pack(model: Transformer) -> Transformer:
    """Have each layer of a laid-out model also keep its weights in half precision.

    That halves the time of a decoding step, and takes half as much memory again. Weights that would
    lose something by it are left as they are, and so are layers that a fused one replaces.
    """
    fused = {
        layer
        for module in model.modules()
        if isinstance(module, FusedAttention)
        for layer in (module.query, module.key, module.value)
    }
    for module in [*model.modules()]:
        for name, layer in module.named_children():
            if isinstance(layer, nn.Linear) and layer not in fused:
                setattr(module, name, packed(layer))
    return model


def set_weight(layer: nn.Linear, weight: Tensor) -> None:
    """Give a layer a copy of a weight, stored column by column, which is no parameter."""
    del layer.weight
    layer.register_buffer("weight", by_columns(weight), persistent=False)


def by_columns(weight: Tensor) -> Tensor:
    """Return the same matrix, stored column by column."""
    return weight.detach().t().contiguous().t()


def best_device() -> torch.device:
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def dtype_on(device: torch.device, saved: torch.dtype) -> torch.dtype:
    """Return the dtype in which a device keeps weights that were saved in another.

    A GPU computes well in half precision, which takes half of the memory; a CPU does not.
    """
    if saved not in HALF or device.type == "cpu":
        return torch.float32
    if saved == torch.bfloat16 and device.type == "cuda":
        return saved if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float32
    return saved
