"""The linear layer that everything here is built from."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

# torch's compiler calls it for the same purpose; it has no public name.
ONEDNN = (
    torch.ops.mkldnn._linear_pointwise.default if torch.backends.mkldnn.is_available() else None
)

WIDE = 4_000


class Linear(nn.Linear):
    """nn.Linear, computed by oneDNN on a processor in inference.

    torch itself multiplies float32 matrices with MKL, which takes about twice as long on processors
    that are not Intel's. The sum is the same, and so are the parameters.
    """

    def forward(self, states: Tensor) -> Tensor:
        """(..., in_features) -> (..., out_features)."""
        if (
            ONEDNN is None
            or torch.is_grad_enabled()
            or not states.dtype == self.weight.dtype == torch.float32
            or states.device.type != "cpu"
            # One row of a narrow layer: calling it costs more than it saves.
            or (states.numel() == self.in_features and self.out_features < WIDE)
        ):
            return F.linear(states, self.weight, self.bias)
        return ONEDNN(states, self.weight, self.bias, "none", [], "")
