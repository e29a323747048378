"""The linear layer of all models here."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

# Whether torch multiplies float32 by weights in half precision here.
HALVES = "fbgemm" in torch.backends.quantized.supported_engines


class Linear(nn.Linear):
    """nn.Linear, computed faster on a CPU in inference, with the same parameters and results.

    Reading the weights takes most of the time of a decoding step. `pack` keeps a copy that is half
    as large, if weights that no longer change lose nothing by it.
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__(in_features, out_features, bias)
        self.packed: torch.ScriptObject | None = None

    def forward(self, states: Tensor) -> Tensor:
        """(..., in_features) -> (..., out_features)."""
        is_packed = self.packed is not None and states.dim() > 1
        if is_packed and states.dtype == torch.float32 and not torch.is_grad_enabled():
            return torch.ops.quantized.linear_dynamic_fp16(states, self.packed)
        return F.linear(states, self.weight, self.bias)

    def pack(self) -> None:
        """Keep a copy of the now final weight in half precision, if a CPU loses nothing by it."""
        if HALVES and self.weight.dtype == torch.float32 and self.weight.device.type == "cpu":
            weight = self.weight.detach()
            if torch.equal(weight, weight.half().float()):
                bias = None if self.bias is None else self.bias.detach()
                self.packed = torch.ops.quantized.linear_prepack_fp16(weight.contiguous(), bias)
