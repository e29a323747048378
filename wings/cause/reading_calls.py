"""What the page Cause reads from the attention, on a run and over a visitor's own lines."""

from dataclasses import dataclass
from itertools import chain

import numpy as np
import streamlit as st

from headlight.model.corpus import as_windows
from headlight.model.jobs import JobQueue
from headlight.pages.shared.runs import limits
from headlight.pages.shared.runs.arrays import as_array
from headlight.pages.shared.runs.door import model_call
from headlight.pages.shared.runs.readers import errors_explained, loading, reader
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.state import models
from headlight.wings.cause.calls import edges_in
from headlight.wings.cause.over_lines import MOST_LINES, LinesJob
from headlight.wings.cause.readings import readings

Window = tuple[int, int]  # the first and the last layer, from 0
BUSY = "{count} texts are already waiting to be measured: try again in a few minutes."


@model_call("Taking gradients …")
def all_readings(run: ModelRun, layers: Window | None) -> dict[str, np.ndarray]:
    """Return how much each written token took from each word, by every reading: (N, W) each.

    `layers` are the first and the last layer of the edges; None means all layers. Raise ValueError
    for a model or a text that has no gradient.
    """
    with errors_explained():
        by_reading = readings(run.reader, *edges_in(run, layers))
    return {name: as_array(numbers) for name, numbers in by_reading.items()}


@dataclass(frozen=True)
class Measured:
    """A measurement of lines with one loaded model; `layers` None means all layers."""

    model: str
    loading: int
    layers: Window | None
    job: LinesJob


class OwnLines:
    """A session's newest measurement of the visitor's own lines; no link contains it."""

    def __init__(self) -> None:
        self.newest: Measured | None = None

    def stop(self) -> None:
        if self.newest:
            self.newest.job.stop(wait=False)
            self.newest = None


@st.cache_resource
def line_queue() -> JobQueue:
    return JobQueue("lines", limits.COUNTS, 5, full=BUSY, longest=limits.COUNT_SECONDS)


@st.cache_resource(scope="session", show_spinner=False, on_release=OwnLines.stop)
def own_lines() -> OwnLines:
    """Return this session's measurement of own lines; it is dropped when the session ends."""
    return OwnLines()


def measure_lines(data: bytes, layers: Window | None) -> None:
    """Start to measure the first lines of a text, and stop the session's earlier measurement.

    Raises ValueError with a sentence if there is nothing to measure, or if too many jobs wait.
    """
    key = models.chosen().key
    lines = list(chain.from_iterable(part.lines for part in as_windows(data, MOST_LINES).windows))
    window = None if layers is None else range(layers[0], layers[1] + 1)
    own_lines().stop()
    job = LinesJob(line_queue(), reader(key), lines, window)
    job.resume()
    own_lines().newest = Measured(key, loading(key), layers, job)


def lines_of(run: ModelRun, layers: Window | None) -> LinesJob | None:
    """Return the measurement of lines by a run's model in these layers, None if there is none."""
    newest = own_lines().newest
    is_of = newest and (newest.model, newest.loading, newest.layers)
    return newest.job if newest and is_of == (run.model, run.loading, layers) else None
