"""What was recorded while the shipped model was trained."""

from __future__ import annotations

import streamlit as st

from model.training.snapshots import Snapshots
from model.translator import PRETRAINED
from pages.shared.state.models import DEFAULT

FOLDER = PRETRAINED / DEFAULT


@st.cache_resource
def recorded_training() -> Snapshots:
    """The attention at steps of the shipped model's training; not to be modified."""
    return Snapshots.from_file(FOLDER / "history.safetensors")
