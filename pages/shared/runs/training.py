"""Models and their training: what was recorded, one that cheated, and one in training."""

from typing import NamedTuple

import streamlit as st

from model.checkpoint import POSITION_COUNTS, load_position_counts
from model.decoding.steps import Writing
from model.insight.scoring import trace_log_probabilities
from model.own_reader import OwnReader
from model.trace import Side
from model.training.jobs import TrainingJob
from model.training.repeats import Lesion
from model.training.snapshots import Snapshots
from model.translator import PRETRAINED
from pages.shared.runs.door import model_call
from pages.shared.runs.readers import translator
from pages.shared.state.catalog import DEFAULT

FOLDER = PRETRAINED / DEFAULT
UNMASKED = "en-fr-unmasked"  # a small model


@st.cache_resource
def recorded_training() -> Snapshots:
    """Return the attention at steps of the shipped model's training; it must not be modified."""
    return Snapshots.from_file(FOLDER / "history.safetensors")


@st.cache_data(show_spinner=False)
def trained_pairs(name: str) -> dict[Side, list[int]]:
    """Return how many training pairs of a shipped model have a token at each position."""
    return load_position_counts(PRETRAINED / name / POSITION_COUNTS)


def trained_up_to(side: Side, name: str = DEFAULT) -> tuple[int, int]:
    """Return the last position in any training pair, and the last that 1 in 1,000 reached."""
    counts = trained_pairs(name)[side]
    return tuple(sum(count > least for count in counts) - 1 for least in (0, counts[0] / 1_000))


@model_call()
def answered(run: str, step: int, read: str, longest: int | None, _reader: OwnReader) -> Writing:
    """Return what a training's model writes after `step` steps, at most `longest` tokens."""
    return _reader.write(read, longest=longest).writing


@model_call()
def lesioned(run: str, step: int, _job: TrainingJob) -> Lesion:
    """Return what a training's decoder loses without a head, after `step` steps."""
    return _job.lesion()


class Cheat(NamedTuple):
    """What the model writes for a sentence if it can look ahead, and if it cannot."""

    loss: float  # on a target that it sees, in nats for each token
    text: str  # written without a target


@model_call()
def cheat(sentence: str, target: str) -> Cheat:
    """Return how well the model copies the target, and what it writes without one."""
    model = translator(UNMASKED)
    loss = -trace_log_probabilities(model.trace(sentence, target)).mean().item()
    return Cheat(loss, model.translate(sentence).text)
