"""The targets of label smoothing, and the loss of being sure or unsure."""

import torch
from torch import Tensor


def smoothed_target(classes: int, smoothing: float) -> tuple[float, float]:
    """Return the target probability of the right token, and that of each other token.

    `smoothing` is the probability that is spread evenly over all `classes` tokens, including the
    right one.
    Source: "Attention Is All You Need", section 5.4.
    """
    other = smoothing / classes
    return 1 - smoothing + other, other


def smoothed_loss(probability: Tensor, classes: int, smoothing: float) -> Tensor:
    """Return the loss in nats of a `probability` for the right token, the rest spread evenly.

    The result has the same shape. The loss is least at the target probability. Raises ValueError
    for fewer than two classes, which leave no other token.
    """
    if classes < 2:
        raise ValueError(f"A choice needs two tokens or more, not {classes}.")
    right, other = smoothed_target(classes, smoothing)
    rest = (1 - probability) / (classes - 1)
    # Without smoothing, 0 times the logarithm of 0 is 0.
    return -torch.xlogy(right, probability) - (classes - 1) * torch.xlogy(other, rest)
