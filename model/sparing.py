"""Parts of a training step in bfloat16 on a CPU, computed with less work and memory."""

import torch
from torch import Tensor, nn

ROWS = 256  # of the logits at a time, so that they stay in the CPU's cache


def is_sparing(device: torch.device) -> bool:
    """Return whether a training step in bfloat16 on a CPU is running."""
    return device.type == "cpu" and torch.is_grad_enabled() and torch.is_autocast_enabled("cpu")


def dropout(states: Tensor, probability: float) -> Tensor:
    """Zero entries at random and scale the others, by one random byte an entry.

    torch draws a whole number for each entry, which takes longer than a layer's products.
    """
    if not probability:
        return states
    limit = round(256 * probability)
    words = torch.empty((states.numel() + 7) // 8, dtype=torch.int64)
    words.random_(-(2**63), None)
    kept = words.view(torch.uint8)[: states.numel()].view(states.shape) >= limit
    return states * (kept.to(states.dtype) * (256 / (256 - limit)))


class Dropout(nn.Dropout):
    """nn.Dropout, by `dropout` in a training step in bfloat16 on a CPU."""

    def forward(self, states: Tensor) -> Tensor:
        if self.training and is_sparing(states.device):
            return dropout(states, self.p)
        return super().forward(states)


def spare(model: nn.Module) -> None:
    """Have a model drop by `Dropout` from now on."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if type(child) is nn.Dropout:
                setattr(module, name, Dropout(child.p))


class _SmoothedLoss(torch.autograd.Function):
    """Output layer and label-smoothed cross-entropy in one, with a few rows of logits at a time."""

    @staticmethod
    def forward(ctx, states: Tensor, weight: Tensor, expected: Tensor, smoothing: float) -> Tensor:  # noqa: ANN001
        rounded, table = states.detach().bfloat16(), weight.detach().bfloat16()
        to_states = torch.empty_like(rounded)
        to_weight = torch.zeros_like(weight)
        total = torch.zeros(())
        count, vocabulary = len(rounded), len(table)
        spread = smoothing / vocabulary
        for first in range(0, count, ROWS):
            part = slice(first, first + ROWS)
            ids = expected[part, None]
            logits = (rounded[part] @ table.T).float()  # (R, V)
            normal = logits.logsumexp(dim=-1, keepdim=True)
            right = logits.gather(1, ids)
            total += (normal - (1 - smoothing) * right).sum() - spread * logits.sum()
            change = logits.sub_(normal).exp_()  # becomes probabilities - expected ones
            change.sub_(spread).scatter_add_(1, ids, torch.full_like(right, smoothing - 1)).div_(
                count
            )
            change = change.bfloat16()
            to_states[part] = change @ table
            to_weight += change.T @ rounded[part]
        ctx.save_for_backward(to_states, to_weight)
        ctx.dtype = states.dtype
        return total / count

    @staticmethod
    def backward(ctx, change: Tensor) -> tuple[Tensor, Tensor, None, None]:  # noqa: ANN001
        to_states, to_weight = ctx.saved_tensors
        return (to_states * change).to(ctx.dtype), to_weight * change, None, None


def smoothed_loss(states: Tensor, weight: Tensor, expected: Tensor, smoothing: float) -> Tensor:
    """Return the cross-entropy in nats a token.

    Shapes: states (N, d_model), output weight (V, d_model) and expected ids (N,). The result equals
    F.cross_entropy of the logits, except for the rounding of bfloat16.
    """
    with torch.autocast("cpu", enabled=False):
        return _SmoothedLoss.apply(states, weight, expected, smoothing)
