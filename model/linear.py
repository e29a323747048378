"""The linear layer of all models here."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

TRIED = ("2.13",)  # versions of torch whose private operator was tried
WIDE = 4_000
FEW = 4  # rows that the order of a packed weight is chosen for


def onednn_linear(version: str = torch.__version__) -> Callable[..., Tensor] | None:
    """Return torch's linear layer by oneDNN, or None if this torch may not have it.

    torch's compiler calls it for the same purpose. It has no public name, so that another version
    may change it.
    """
    tried = ".".join(version.split(".")[:2]) in TRIED
    if not (tried and torch.backends.mkldnn.is_available()):
        return None
    return torch.ops.mkldnn._linear_pointwise.default


ONEDNN = onednn_linear()


class Linear(nn.Linear):
    """nn.Linear, computed by oneDNN on a CPU in inference.

    torch itself multiplies float32 matrices with MKL, which takes about twice as long on CPUs that
    are not Intel's. The results and the parameters are the same. If a weight no longer changes,
    `pack` keeps a copy of it in oneDNN's own order, which halves the time for a few rows.
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__(in_features, out_features, bias)
        self.register_buffer("packed", None, persistent=False)

    def forward(self, states: Tensor) -> Tensor:
        """(..., in_features) -> (..., out_features)."""
        is_one_row = states.numel() == self.in_features
        if (
            ONEDNN is None
            or torch.is_grad_enabled()
            or not states.dtype == self.weight.dtype == torch.float32
            or states.device.type != "cpu"
            # One row of a narrow layer: calling it costs more than it saves.
            or (is_one_row and self.out_features < WIDE)
        ):
            return F.linear(states, self.weight, self.bias)
        weight = self.weight if self.packed is None or is_one_row else self.packed
        return ONEDNN(states, weight, self.bias, "none", [], "")

    def pack(self) -> None:
        """Keep a copy of the now final weight in oneDNN's order; other devices do nothing."""
        if ONEDNN and self.weight.dtype == torch.float32 and self.weight.device.type == "cpu":
            weight = self.weight.detach()
            self.packed = torch.ops.mkldnn._reorder_linear_weight.default(weight, FEW)
