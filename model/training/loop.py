"""How a Transformer is trained: the loss, the schedule, the steps and the optimizer Muon.

Muon makes the momentum of the layers' matrices orthogonal, and leaves everything else to Adam.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from headlight.model.sparing import is_sparing, smoothed_loss, spare
from headlight.model.training import together
from headlight.model.training.data import Batch
from headlight.model.transformer.trace import Run
from headlight.model.transformer.transformer import Transformer

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
OPTIMIZERS = ("adam", "muon")
DIVERGED = (
    "At step {step} the training diverged (its numbers are not finite): choose a smaller learning "
    "rate or a longer warm-up."
)
# Five steps of this odd polynomial bring all singular values from (0, 1] close to 1. Source:
# Keller Jordan et al., "Muon: An optimizer for hidden layers in neural networks" (2024).
QUINTIC = (3.4445, -4.7750, 2.0315)
QUINTIC_STEPS = 5
# Makes an update as long as Adam's, so that both take one learning rate. Source: "Muon is
# Scalable for LLM Training" (2025), section 2.2.
UPDATE_LENGTH = 0.2


@dataclass(frozen=True)
class Settings:
    """The settings of a training; `steps` and `cooldown` count optimizer steps."""

    steps: int = 12_000
    warmup: int = 2_000
    cooldown: int = 4_000
    rate: float = 1.0  # times the paper's schedule
    label_smoothing: float = 0.1
    clip: float = 1.0  # largest norm of the gradient
    batch_tokens: int = 3_072  # padded tokens of a batch, on either side
    seed: int = 0
    precision: str = "float32"
    optimizer: str = "adam"


@dataclass(frozen=True)
class TrainingStep:
    """One optimizer step: its number from 1, its loss in nats a token, its learning rate."""

    number: int
    loss: float
    learning_rate: float


def learning_rate(step: int, d_model: int, settings: Settings) -> float:
    """Return the learning rate: a warm-up, and a line to zero over the last `cooldown` steps.

    Source: "Attention Is All You Need", section 5.3; the line to zero is ours.
    """
    warmed = settings.rate * d_model**-0.5 * min(step**-0.5, step * settings.warmup**-1.5)
    return warmed * min(1.0, (settings.steps - step + 1) / max(1, settings.cooldown))


def make_optimizer(
    model: nn.Module, name: str = "adam", precision: str = "bfloat16"
) -> torch.optim.Optimizer:
    """Return Adam as in section 5.3 of the paper, or Muon; the schedule sets the rates."""
    if name == "muon":
        return Muon(model, precision=PRECISIONS[precision])
    return torch.optim.Adam(model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True)


def batch_loss(model: Transformer, batch: Batch, label_smoothing: float = 0.0) -> Tensor:
    """Return the cross-entropy of the expected tokens in nats a token, without padding."""
    if is_sparing(model.device):
        memory, memory_mask = model.encode(batch.source_ids), model.source_mask(batch.source_ids)
        mask = model.target_mask(batch.target_ids)
        states = model.decoder(batch.target_ids, memory, mask, memory_mask, Run())
        written = batch.next_ids != model.config.pad_id
        return smoothed_loss(
            states[written], model.output.weight, batch.next_ids[written], label_smoothing
        )
    logits = model(batch.source_ids, batch.target_ids)  # (B, T, V)
    expected = batch.next_ids.flatten()
    return F.cross_entropy(
        logits.flatten(0, 1).float(),
        expected,
        ignore_index=model.config.pad_id,
        label_smoothing=label_smoothing,
    )


def train(
    model: Transformer,
    optimizer: torch.optim.Optimizer,
    batches: Iterable[Batch],
    settings: Settings,
    first_step: int = 1,
) -> Iterator[TrainingStep]:
    """Train with teacher forcing over `batches`, until they or `settings.steps` end.

    The caller may stop between two steps, and inspect or save the model there. Raises
    FloatingPointError, before the weights are changed, if the loss or its gradient is not finite.
    """
    device = model.device
    precision = PRECISIONS[settings.precision]
    spare(model)
    loss_of = together.shared(model, batch_loss)
    numbers = range(first_step, settings.steps + 1)
    for number, batch in zip(numbers, batches, strict=False):
        model.train()
        rate = learning_rate(number, model.config.d_model, settings)
        for group in optimizer.param_groups:
            group["lr"] = rate
        batch = batch.to(device)
        together.draw_anew(settings.seed, number)
        enabled = precision != torch.float32
        with torch.autocast(device.type, precision, enabled=enabled):
            loss = loss_of(batch, settings.label_smoothing) * batch.weight
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
        whole = together.mean(loss)
        if not (math.isfinite(whole) and math.isfinite(norm.item())):
            raise FloatingPointError(DIVERGED.format(step=number))
        optimizer.step()
        yield TrainingStep(number, whole, rate)


@torch.inference_mode()
def validation_loss(model: Transformer, batches: Iterable[Batch]) -> float:
    """Return the mean cross-entropy in nats a token, without smoothing or dropout."""
    model.eval()
    device = model.device
    total, count = 0.0, 0
    for batch in batches:
        batch = batch.to(device)
        tokens = int((batch.next_ids != model.config.pad_id).sum())
        total += batch_loss(model, batch).item() * tokens
        count += tokens
    return total / count


def smoothed_target(classes: int, smoothing: float) -> tuple[float, float]:
    """Return the target probability of the right token, and that of each other token.

    `smoothing` is the probability that is spread evenly over all `classes` tokens, including the
    right one.
    Source: "Attention Is All You Need", section 5.4.
    """
    other = smoothing / classes
    return 1 - smoothing + other, other


def loss_of_probability(probability: Tensor, classes: int, smoothing: float) -> Tensor:
    """Return the loss in nats of a `probability` for the right token, the rest spread evenly.

    The result has the same shape. The loss is least at the target probability.
    """
    right, other = smoothed_target(classes, smoothing)
    rest = (1 - probability) / (classes - 1)
    # Without smoothing, 0 times the logarithm of 0 is 0.
    return -torch.xlogy(right, probability) - (classes - 1) * torch.xlogy(other, rest)


def thinned(values: np.ndarray, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends (from 1) and the means of at most `points` stretches of equal length."""
    if not len(values):
        return np.zeros(0, dtype=int), np.zeros(0)
    size = -(-len(values) // points)
    starts = np.arange(0, len(values), size)
    ends = np.append(starts[1:], len(values))
    return ends, np.add.reduceat(values, starts) / (ends - starts)


def orthogonal(matrix: Tensor, precision: torch.dtype = torch.bfloat16) -> Tensor:
    """Return roughly the nearest matrix with orthonormal rows or columns."""
    tall = matrix.size(0) > matrix.size(1)
    x = (matrix.T if tall else matrix).to(precision)
    x = x / (x.norm() + 1e-7)
    first, third, fifth = QUINTIC
    for _ in range(QUINTIC_STEPS):
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
            length = UPDATE_LENGTH * max(parameter.shape) ** 0.5
            parameter.sub_(update, alpha=matrices["lr"] * length)
