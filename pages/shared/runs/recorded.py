"""What was recorded while the shipped model was trained."""

from __future__ import annotations

import streamlit as st

from model.training.history import History
from model.translator import PRETRAINED
from pages.shared.state.models import DEFAULT

FOLDER = PRETRAINED / DEFAULT


@st.cache_resource
def recorded_training() -> History:
    """The attention at steps of the shipped model's training; not to be modified."""
    return History.from_file(FOLDER / "history.safetensors")
