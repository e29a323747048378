"""One step of a training: settings, optimizers, learning rate and loss.

The command `python -m headlight.model.train` and the Training page both use it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn
from torch.nn import functional as F

from headlight.model.training.data import Batch
from headlight.model.transformer.transformer import Transformer

Optimizers = Sequence[torch.optim.Optimizer]
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
    rate: float = 1.0  # a factor on the learning rate of "Attention Is All You Need"
    label_smoothing: float = 0.1
    clip: float = 1.0  # the largest norm of the gradient; a larger one is scaled down
    batch_tokens: int = 3_072  # the most padded tokens of a batch, on each side
    seed: int = 0
    precision: str = "float32"
    optimizer: str = "adam"


def make_optimizers(model: nn.Module, name: str = "adam") -> list[torch.optim.Optimizer]:
    """Return Adam, and with the name "muon" also Muon, for the matrices of the layers.

    Adam has the options of "Attention Is All You Need", section 5.3. The updates of Muon are scaled
    to the size of Adam's, so that both use the same learning rate, which `train_step` sets.
    Source: "Muon is Scalable for LLM Training" (2025), section 2.2.
    """
    tables = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
    matrices, others = [], []
    for parameter in model.parameters():
        is_matrix = parameter.ndim == 2 and id(parameter) not in tables
        (matrices if is_matrix and name == "muon" else others).append(parameter)
    adam = torch.optim.Adam(others, lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True)
    if not matrices:
        return [adam]
    options = {"weight_decay": 0.0, "adjust_lr_fn": "match_rms_adamw"}
    return [adam, torch.optim.Muon(matrices, lr=0.0, **options)]


def learning_rate(step: int, d_model: int, settings: Settings) -> float:
    """Return the learning rate at a step, from 1.

    It rises, falls, and goes linearly to zero over the last `cooldown` steps.
    Source: "Attention Is All You Need", section 5.3, which has no cooldown.
    """
    warmed = settings.rate * d_model**-0.5 * min(step**-0.5, step * settings.warmup**-1.5)
    return warmed * min(1.0, (settings.steps - step + 1) / max(1, settings.cooldown))


def batch_loss(model: Transformer, batch: Batch, label_smoothing: float = 0.0) -> Tensor:
    """Return the mean cross-entropy of the expected tokens in nats per token, without padding."""
    logits = model(batch.source_ids, batch.target_ids)  # (B, T, V)
    return F.cross_entropy(
        logits.flatten(0, 1).float(),
        batch.next_ids.flatten(),
        ignore_index=model.config.pad_id,
        label_smoothing=label_smoothing,
    )


def train_step(
    model: Transformer, optimizers: Optimizers, batch: Batch, step: int, settings: Settings
) -> float:
    """Update the weights once, with teacher forcing; return the loss in nats per token.

    Steps count from 1. Raises FloatingPointError, before the weights are changed, if the loss or
    its gradient is not finite.
    """
    model.train()
    device, batch = model.device, batch.to(model.device)
    with torch.autocast(device.type, torch.bfloat16, enabled=settings.precision == "bfloat16"):
        loss = batch_loss(model, batch, settings.label_smoothing) * batch.weight
    model.zero_grad()
    loss.backward()
    loss = loss.detach()
    if processes() > 1:  # summed over all processes, these are the whole batch's loss and gradients
        gradients = [weight.grad for weight in model.parameters() if weight.grad is not None]
        for tensor in (loss, *gradients):
            distributed.all_reduce(tensor)
    norm = nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
    if not (loss.isfinite() and norm.isfinite()):
        raise FloatingPointError(DIVERGED.format(step=step))
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, model.config.d_model, settings)
        optimizer.step()
    return loss.item()


def processes() -> int:
    """Return the number of processes that train together."""
    joined = distributed.is_available() and distributed.is_initialized()
    return distributed.get_world_size() if joined else 1


def smoothed_target(classes: int, smoothing: float) -> tuple[float, float]:
    """Return the target probability of the right token, and that of each other token.

    `smoothing` is the probability that is spread evenly over all `classes` tokens, including the
    right one.
    Source: "Attention Is All You Need", section 5.4.
    """
    other = smoothing / classes
    return 1 - smoothing + other, other


def loss_of_probability(probability: Tensor, classes: int, smoothing: float) -> Tensor:
    """Return the loss in nats if the right token has a `probability`, in the same shape.

    The other tokens share the rest equally. The loss is lowest at the target probability.
    """
    right, other = smoothed_target(classes, smoothing)
    rest = (1 - probability) / (classes - 1)
    # `xlogy` takes 0 times log 0, which occurs without smoothing, as 0.
    return -torch.xlogy(right, probability) - (classes - 1) * torch.xlogy(other, rest)
