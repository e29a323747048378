"""What the model of a training writes, and what it loses without a head."""

from headlight.model.decoding.steps import Writing
from headlight.model.own_reader import OwnReader
from headlight.pages.shared.runs.door import model_call
from headlight.wings.training.jobs import TrainingJob
from headlight.wings.training.repeats import Lesion


@model_call()
def answered(run: str, step: int, read: str, longest: int | None, _reader: OwnReader) -> Writing:
    """Return at most `longest` tokens that a training's model writes after `step` steps."""
    return _reader.write(read, longest=longest).writing


@model_call()
def lesioned(run: str, step: int, _job: TrainingJob) -> Lesion | None:
    """Return a decoder's `Lesion` after `step` steps; None for an encoder-decoder."""
    return _job.lesion()
