"""Linear layers with weights in half precision, which a CPU reads in half the time."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

# Whether torch multiplies float32 by weights in half precision here.
HALVES = "fbgemm" in torch.backends.quantized.supported_engines


class PackedLinear(nn.Linear):
    """A linear layer with the parameters and results of another, whose weights no longer change.

    Reading the weights takes most of the time of a decoding step. A copy in half precision is half
    as large.
    """

    def __init__(self, plain: nn.Linear) -> None:
        nn.Module.__init__(self)  # without weights of its own
        self.in_features, self.out_features = plain.in_features, plain.out_features
        for name in ("weight", "bias"):
            part = getattr(plain, name)
            if part is None or isinstance(part, nn.Parameter):
                self.register_parameter(name, part)
            else:
                self.register_buffer(name, part, persistent=False)
        bias = None if plain.bias is None else plain.bias.detach()
        weight = plain.weight.detach().contiguous()
        self.packed = torch.ops.quantized.linear_prepack_fp16(weight, bias)

    def forward(self, states: Tensor) -> Tensor:
        """(..., in_features) -> (..., out_features)."""
        if states.dim() > 1 and states.dtype == torch.float32 and not torch.is_grad_enabled():
            return torch.ops.quantized.linear_dynamic_fp16(states, self.packed)
        return F.linear(states, self.weight, self.bias)


def packed(layer: nn.Linear) -> nn.Linear:
    """Return a layer whose weights are packed, or the layer itself if they would lose by it."""
    weight = layer.weight.detach()
    can = HALVES and weight.dtype == torch.float32 and weight.device.type == "cpu"
    return PackedLinear(layer) if can and torch.equal(weight, weight.half().float()) else layer
