"""Linear layers with a copy of their weights in half precision, which a CPU reads twice as fast."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

# True if torch, on this computer, can multiply float32 by weights in half precision.
HALVES = "fbgemm" in torch.backends.quantized.supported_engines


class PackedLinear(nn.Linear):
    """A faster linear layer with the parameters and results of another, for fixed weights.

    Reading the weights takes most of the time of a decoding step, and this layer reads a copy in
    half precision, which is half as large.
    """

    def __init__(self, plain: nn.Linear) -> None:
        nn.Module.__init__(self)  # not nn.Linear.__init__, which would make new weights
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
    """Return a PackedLinear if torch can and half precision keeps the weights, else the layer."""
    weight = layer.weight.detach()
    can = HALVES and weight.dtype == torch.float32 and weight.device.type == "cpu"
    return PackedLinear(layer) if can and torch.equal(weight, weight.half().float()) else layer
