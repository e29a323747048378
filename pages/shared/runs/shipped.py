"""What was recorded of the shipped model's training, and a shipped model that cheats."""

from typing import NamedTuple

import streamlit as st

from headlight.model.insight.scoring import trace_log_probabilities
from headlight.model.snapshots import Snapshots
from headlight.model.translator import PRETRAINED
from headlight.pages.shared.runs.door import model_call
from headlight.pages.shared.runs.readers import translator
from headlight.pages.shared.state.models import DEFAULT

FOLDER = PRETRAINED / DEFAULT
UNMASKED = "en-fr-unmasked"  # a small model


@st.cache_resource
def recorded_training() -> Snapshots:
    """Return the attention at steps of the shipped model's training; it must not be modified."""
    return Snapshots.from_file(FOLDER / "history.safetensors")


class Cheat(NamedTuple):
    """What the model writes for a sentence if it can look ahead, and if it cannot."""

    score: float  # the log-probability of the whole target
    text: str  # written without a target


@model_call()
def cheat(sentence: str, target: str) -> Cheat:
    """Return how well the model copies the target, and what it writes without one."""
    model = translator(UNMASKED)
    score = trace_log_probabilities(model.trace(sentence, target)).sum().item()
    return Cheat(score, model.translate(sentence).text)
