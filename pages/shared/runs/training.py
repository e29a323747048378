"""What a model that is being trained makes of an input."""

from __future__ import annotations

from model import Translation, Translator
from model.training.jobs import TrainingJob
from model.training.repeats import Lesion
from pages.shared.runs.door import model_call


@model_call()
def answered(run: str, step: int, source: str, _translator: Translator) -> Translation:
    """Return what a training's model writes after a number of steps."""
    return _translator.translate(source)


@model_call()
def lesioned(run: str, step: int, _job: TrainingJob) -> Lesion:
    """Return what a training's decoder loses without a head, after a number of steps."""
    return _job.lesion()
