"""How a Transformer is trained: the loss, the schedule and the steps."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.sparing import is_sparing, smoothed_loss, spare
from model.trace import Run
from model.training import together
from model.training.data import Batch
from model.training.muon import Muon
from model.transformer import Transformer

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
OPTIMIZERS = ("adam", "muon")
DIVERGED = (
    "At step {step} the training diverged (its numbers are not finite): choose a smaller learning "
    "rate or a longer warm-up."
)


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
