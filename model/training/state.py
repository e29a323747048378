"""What is known of a training at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from model.training.snapshots import Snapshots

Status = Literal["waiting", "training", "paused", "stopped", "finished", "failed"]

POINTS = 300  # of the loss curve


@dataclass(frozen=True)
class TrainingState:
    """What is known of a training at one moment.

    A point of the losses is their mean, in nats a token, over the steps since the previous point;
    it stands at the last of them, and so does its learning rate. `seconds` are those spent
    training.
    """

    status: Status
    note: str  # why it has this status, if the visitor did not ask for it
    place: int  # in line, from 1; 0 if it is not waiting
    step: int
    steps: int
    seconds: float
    seconds_left: float | None  # None until there is something to tell from
    loss_steps: np.ndarray  # (points,)
    losses: np.ndarray  # (points,)
    learning_rates: np.ndarray  # (points,)
    match_steps: np.ndarray  # (counts,)
    matches: np.ndarray  # (counts,) share of unseen examples without a mistake, or induction score
    snapshots: Snapshots


def thinned(values: np.ndarray, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where at most `points` stretches of equal length end, from 1, and their means."""
    if not len(values):
        return np.zeros(0, dtype=int), np.zeros(0)
    size = -(-len(values) // points)
    starts = np.arange(0, len(values), size)
    ends = np.append(starts[1:], len(values))
    return ends, np.add.reduceat(values, starts) / (ends - starts)
