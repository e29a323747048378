"""Parts of heads put from one text's run into another's, for the pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch

from model.insight.knockout import what_was_written
from model.insight.patching import (
    Answers,
    TwoRuns,
    check_tokens,
    patch_heads,
    patch_tokens,
    two_runs,
)
from model.reader import Objective
from model.trace import Kind, Part, RunEdits, Site, Trace
from pages.shared.runs.arrays import as_array
from pages.shared.runs.door import model_call
from pages.shared.runs.readers import explained
from pages.shared.runs.run import ModelRun, reading_its_own, written

LIKELIEST = 12  # tokens that are kept after each written one
WHOLE: tuple[Part, ...] = ("heads",)

Shares = Mapping[Kind, np.ndarray]  # (layers, heads); NaN if not measured yet
Report = Callable[[Shares, float], None]  # takes what is known, and the share of the work


@dataclass(frozen=True)
class TwoTexts:
    """A clean and a changed text, read as the same tokens are written after both.

    The traces have tokens alone. `likeliest` are the ids (N, 12) found so before each written token
    of either text, and `losses` (N,) how many nats less likely the changed text makes that.
    """

    clean: Trace
    changed: Trace
    written: Objective
    likeliest: tuple[list[list[int]], list[list[int]]]
    losses: list[float]

    @property
    def first_apart(self) -> int:
        """The place of the first written token that the changed text would not have written.

        If it would have written them all, of the one that it makes most less likely.
        """
        found = zip(self.written.ids, self.likeliest[1], strict=True)
        apart = (place for place, (token, best) in enumerate(found) if best[0] != token)
        return next(apart, int(np.argmax(self.losses)))


@dataclass(frozen=True)
class Patched:
    """The share of the gap between two runs that each head brings alone, and what all bring.

    `before` and `aim` are the differences of the answers without it and in the run that gives, in
    nats; `itself` is the change by parts of its own.
    """

    shares: Shares
    before: float
    aim: float
    itself: float
    all_parts: float
    all_heads: float


def own_writing(run: ModelRun):  # noqa: ANN201
    return None if run.target else written(run.as_trained)
