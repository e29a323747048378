"""The linear layer that everything here is built from."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

TRIED = ("2.13",)  # versions of torch whose private operator was tried
WIDE = 4_000


def onednn_linear(version: str = torch.__version__) -> Callable[..., Tensor] | None:
    """Return torch's linear layer by oneDNN, or None if this torch may not have it.

    torch's compiler calls it for the same purpose; it has no public name, so that another version
    may change it.
    """
    tried = ".".join(version.split(".")[:2]) in TRIED
    if not (tried and torch.backends.mkldnn.is_available()):
        return None
    return torch.ops.mkldnn._linear_pointwise.default


ONEDNN = onednn_linear()


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
