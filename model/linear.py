"""The linear layer that everything here is built from."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

MANY_ROWS = 16  # below, preparing oneDNN's call takes longer than its kernel saves


class Linear(nn.Linear):
    """nn.Linear, computed by oneDNN where that is faster: many rows, on a processor, in inference.

    torch itself multiplies float32 matrices with MKL, which takes about twice as long on processors
    that are not Intel's. The sum is the same, and so are the parameters.
    """

    def forward(self, states: Tensor) -> Tensor:
        """(..., in_features) -> (..., out_features)."""
        if (
            torch.is_grad_enabled()
            or states.device.type != "cpu"
            or not states.dtype == self.weight.dtype == torch.float32
            or states.numel() < MANY_ROWS * self.in_features
            or not torch.backends.mkldnn.is_available()
        ):
            return F.linear(states, self.weight, self.bias)
        # torch's compiler calls it for the same purpose; it has no public name.
        return torch.ops.mkldnn._linear_pointwise(states, self.weight, self.bias, "none", [], "")
