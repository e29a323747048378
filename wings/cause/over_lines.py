"""Measure on many lines how well readings of the attention agree with losses from closing edges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from headlight.model.corpus import CorpusLine
from headlight.model.insight.correlation import rank_correlation
from headlight.model.jobs import Job, JobQueue, keep_in_the_background
from headlight.model.reader import Reader
from headlight.wings.cause.knockout import agreements, edges_of, knock_out
from headlight.wings.cause.readings import readings

MOST_LINES = 200
FAILED = "The measurement failed ({error}): try a shorter text or another model."
TOO_LONG = "Stopped after {seconds:.0f} seconds, the limit: {done} of {all} lines were measured."
NOTHING = "No line of this text can be measured: {why}"


@dataclass(frozen=True)
class Agreement:
    """How closely readings follow the losses from closing each edge of one text.

    `correlations` are Spearman's, NaN if all numbers are equal; `agreed` counts the written tokens
    that lose most without the word that has the largest number in the reading.
    """

    correlations: Mapping[str, float]
    agreed: Mapping[str, int]
    written: int


def agreement(by_reading: Mapping[str, np.ndarray], changes: np.ndarray) -> Agreement:
    """Compare readings (N, W) with the changes (N, W), in nats, from closing each edge."""
    return Agreement(
        {name: rank_correlation(numbers, -changes) for name, numbers in by_reading.items()},
        {name: agreements(numbers, changes) for name, numbers in by_reading.items()},
        len(changes),
    )


def agreement_on(reader: Reader, line: CorpusLine, layers: range | None) -> Agreement:
    """Return the agreement on a line: over its second text, or over what the model writes.

    Only models with cross-attention read the second text. Raises ValueError if nothing is
    written, or if the text is too long.
    """
    target = line.second if "cross" in reader.shape.kinds else None
    writing = None if target else reader.write(line.text).writing
    trace = reader.trace(line.text, target or writing, sites=[])
    edges = edges_of(trace, reader, layers, writing)
    by_reading = {name: part.cpu().numpy() for name, part in readings(reader, trace, edges).items()}
    _, parts = knock_out(reader, trace, edges)
    return agreement(by_reading, torch.cat(list(parts), dim=-1).cpu().numpy())


class LinesJob(Job[list[Agreement]]):
    """A measurement of a visitor's own lines, with edges closed in some layers or in all."""

    def __init__(
        self,
        queue: JobQueue,
        reader: Reader,
        lines: Sequence[CorpusLine],
        layers: range | None = None,
    ) -> None:
        super().__init__(queue)
        self.total = len(lines)
        self.measured: list[Agreement] = []
        self.left_out = 0
        self.cut = ""  # a sentence that says why the job ended early
        # None once closed.
        self._what: tuple[Reader, Sequence[CorpusLine], range | None] | Any = reader, lines, layers

    def work(self) -> list[Agreement]:
        """Measure line by line; raises ValueError if no line can be measured."""
        keep_in_the_background()
        reader, lines, layers = self._what
        why = ""
        for line in lines[self.done :]:
            self.check()
            if self.seconds > self.queue.longest:
                times = {"seconds": self.queue.longest, "done": self.done, "all": self.total}
                self.cut = TOO_LONG.format(**times)
                break
            try:
                self.measured.append(agreement_on(reader, line, layers))
            except ValueError as error:
                self.left_out, why = self.left_out + 1, str(error)
            self.done += 1
        if not self.measured:
            raise ValueError(NOTHING.format(why=why))
        return self.measured

    def close(self) -> None:
        """Drop the model and the text."""
        self._what = None

    def explain(self, error: BaseException) -> str:
        """Return a sentence that tells the visitor why the job failed."""
        is_told = isinstance(error, ValueError)
        return str(error) if is_told else FAILED.format(error=type(error).__name__)
