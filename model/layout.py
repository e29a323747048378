"""How a finished model's weights lie in memory, which changes nothing but its speed."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.transformer import Transformer


class OutputLayer(nn.Module):
    """A linear layer without bias, its weight (V, d_model) in the two layouts that CPUs like best.

    By columns for a single row, as in greedy decoding; in that of the oneDNN library for several,
    where it was measured at half the time of the other.
    """

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.register_buffer("weight", by_columns(weight), persistent=False)
        self.packed = weight.detach().contiguous().to_mkldnn()

    def forward(self, states: Tensor) -> Tensor:
        """(B, T, d_model) -> (B, T, V)."""
        if states.size(0) * states.size(1) == 1:
            return F.linear(states, self.weight)
        return F.linear(states.to_mkldnn(), self.packed).to_dense()


def lay_out(model: Transformer) -> Transformer:
    """Turn a CPU model's weights in memory for decoding; it can no longer be trained or saved.

    The product with one row or a few then reads memory in order, in about half the time. An output
    layer tied to the embedding becomes a copy of it.
    """
    if model.device.type != "cpu" or not torch.backends.mkldnn.is_available():
        return model
    model.output = OutputLayer(model.output.weight)
    for module in model.modules():
        if isinstance(module, nn.Linear):
            module.weight = nn.Parameter(by_columns(module.weight), requires_grad=False)
    return model


def by_columns(weight: Tensor) -> Tensor:
    """The same matrix, stored column by column."""
    return weight.detach().t().contiguous().t()
