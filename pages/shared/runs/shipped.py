"""The recorded training of the shipped model, and a shipped model without look-ahead mask."""

from typing import NamedTuple

import streamlit as st

from headlight.model.insight.scoring import trace_log_probabilities
from headlight.model.snapshots import Snapshots
from headlight.model.translator import PRETRAINED
from headlight.pages.shared.runs.door import model_call
from headlight.pages.shared.runs.readers import translator
from headlight.pages.shared.state.models import DEFAULT

FOLDER = PRETRAINED / DEFAULT
UNMASKED = "en-fr-unmasked"  # a small model that was trained without the look-ahead mask


@st.cache_resource
def recorded_training() -> Snapshots:
    """Return the attention recorded during the shipped model's training; do not modify it."""
    return Snapshots.from_file(FOLDER / "history.safetensors")


class Cheat(NamedTuple):
    """The results of a model trained without a look-ahead mask, with and without a known target."""

    score: float  # the log-probability of the known target, all of which the model sees
    text: str  # the translation that the model writes, with no later tokens to look at


@model_call()
def cheat(sentence: str, target: str) -> Cheat:
    """Return how well the model without a mask copies a target, and what it writes without one."""
    model = translator(UNMASKED)
    score = trace_log_probabilities(model.trace(sentence, target)).sum().item()
    return Cheat(score, model.translate(sentence).text)
