"""A model that was trained without the look-ahead mask, as a warning."""

from __future__ import annotations

from typing import NamedTuple

from model.insight.scoring import trace_log_probabilities
from pages.shared.runs.door import model_call
from pages.shared.runs.readers import translator

UNMASKED = "en-fr-unmasked"  # a small model


class Cheat(NamedTuple):
    """What the model makes of a sentence if it can look ahead, and if it cannot."""

    loss: float  # on a target that it sees, in nats a token
    text: str  # that it writes by itself


@model_call()
def cheat(sentence: str, target: str) -> Cheat:
    """Return how well the model copies the target, and what it writes without one."""
    model = translator(UNMASKED)
    loss = -trace_log_probabilities(model.trace(sentence, target)).mean().item()
    return Cheat(loss, model.translate(sentence).text)
