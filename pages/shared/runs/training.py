"""What a model that is being trained makes of an input."""

from __future__ import annotations

from model.decoding.steps import Writing
from model.own_reader import OwnReader
from model.training.jobs import TrainingJob
from model.training.repeats import Lesion
from pages.shared.runs.door import model_call


@model_call()
def answered(run: str, step: int, read: str, longest: int | None, _reader: OwnReader) -> Writing:
    """Return what a training's model writes after a number of steps, so many tokens at most."""
    return _reader.write(read, longest=longest).writing


@model_call()
def lesioned(run: str, step: int, _job: TrainingJob) -> Lesion:
    """Return what a training's decoder loses without a head, after a number of steps."""
    return _job.lesion()
