"""The linear layer of all models here."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

TRIED = ("2.13",)  # versions of torch whose private operator was tried
WIDE = 4_000
# Whether torch multiplies float32 by weights in half precision here.
HALVES = "fbgemm" in torch.backends.quantized.supported_engines


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
    """nn.Linear, computed faster on a CPU in inference, with the same parameters and results.

    Reading the weights takes most of the time of a decoding step. `pack` keeps a copy that is half
    as large, if weights that no longer change lose nothing by it. Others are multiplied by oneDNN:
    torch's own MKL takes about twice as long on CPUs that are not Intel's.
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__(in_features, out_features, bias)
        self.packed: torch.ScriptObject | None = None

    def forward(self, states: Tensor) -> Tensor:
        """(..., in_features) -> (..., out_features)."""
        is_float = states.dtype == self.weight.dtype == torch.float32
        if torch.is_grad_enabled() or states.device.type != "cpu" or not is_float:
            return F.linear(states, self.weight, self.bias)
        if self.packed is not None and states.dim() > 1:
            return torch.ops.quantized.linear_dynamic_fp16(states, self.packed)
        is_one_row = states.numel() == self.in_features
        # One row of a narrow layer: calling oneDNN costs more than it saves.
        if ONEDNN is None or (is_one_row and self.out_features < WIDE):
            return F.linear(states, self.weight, self.bias)
        return ONEDNN(states, self.weight, self.bias, "none", [], "")

    def pack(self) -> None:
        """Keep a copy of the now final weight in half precision, if a CPU loses nothing by it."""
        if HALVES and self.weight.dtype == torch.float32 and self.weight.device.type == "cpu":
            weight = self.weight.detach()
            if torch.equal(weight, weight.half().float()):
                bias = None if self.bias is None else self.bias.detach()
                self.packed = torch.ops.quantized.linear_prepack_fp16(weight.contiguous(), bias)
