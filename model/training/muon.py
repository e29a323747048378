"""Muon: momentum made orthogonal for the layers' matrices, Adam for everything else."""

import torch
from torch import Tensor, nn

# Five steps of this odd polynomial bring all singular values from (0, 1] close to 1. Source:
# Keller Jordan et al., "Muon: An optimizer for hidden layers in neural networks" (2024).
QUINTIC = (3.4445, -4.7750, 2.0315)
STEPS = 5
# Makes an update as long as Adam's, so that both take one learning rate. Source: "Muon is
# Scalable for LLM Training" (2025), section 2.2.
LENGTH = 0.2


def orthogonal(matrix: Tensor, precision: torch.dtype = torch.bfloat16) -> Tensor:
    """Return roughly the nearest matrix with orthonormal rows or columns."""
    tall = matrix.size(0) > matrix.size(1)
    x = (matrix.T if tall else matrix).to(precision)
    x = x / (x.norm() + 1e-7)
    first, third, fifth = QUINTIC
    for _ in range(STEPS):
        square = x @ x.T
        x = first * x + (third * square + fifth * square @ square) @ x
    return (x.T if tall else x).to(matrix.dtype)


class Muon(torch.optim.Optimizer):
    """Orthogonal updates for the matrices of a model's layers, Adam's for all other parameters.

    These are embeddings, norms and biases. The learning rate means the same for both. Products are
    computed in `precision`: bfloat16 is slow on a CPU without instructions for it.
    """

    def __init__(
        self,
        model: nn.Module,
        momentum: float = 0.95,
        betas: tuple[float, float] = (0.9, 0.98),
        precision: torch.dtype = torch.bfloat16,
    ) -> None:
        self.precision = precision
        tables = {
            id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)
        }
        matrices, rest = [], []
        for parameter in model.parameters():
            is_matrix = parameter.ndim == 2 and id(parameter) not in tables
            (matrices if is_matrix else rest).append(parameter)
        groups = [{"params": matrices, "momentum": momentum}, {"params": rest, "momentum": None}]
        super().__init__(groups, {"lr": 0.0})
        self.adam = torch.optim.Adam(rest, lr=0.0, betas=betas, eps=1e-9, fused=True)
        # One state for all parameters, so that saving and loading treat them alike.
        for parameter in rest:
            self.adam.state[parameter] = self.state[parameter]

    @torch.no_grad()
    def step(self) -> None:
        """Update every parameter that has a gradient once."""
        matrices, rest = self.param_groups
        for parameter in rest["params"]:
            self.adam.state[parameter] = self.state[parameter]
        self.adam.param_groups[0]["lr"] = rest["lr"]
        self.adam.step()
        momentum = matrices["momentum"]
        for parameter in matrices["params"]:
            if parameter.grad is None:
                continue
            state = self.state[parameter]
            if "momentum" not in state:
                state["momentum"] = torch.zeros_like(parameter)
            state["momentum"].lerp_(parameter.grad, 1 - momentum)
            update = orthogonal(parameter.grad.lerp(state["momentum"], momentum), self.precision)
            parameter.sub_(update, alpha=matrices["lr"] * LENGTH * max(parameter.shape) ** 0.5)
