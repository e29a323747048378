"""What was recorded while the shipped models were trained."""

from __future__ import annotations

import streamlit as st

from model.trace import Side
from model.training.position_counts import POSITION_COUNTS, load_position_counts
from model.training.snapshots import Snapshots
from model.translator import PRETRAINED
from pages.shared.state.catalog import DEFAULT

FOLDER = PRETRAINED / DEFAULT


@st.cache_resource
def recorded_training() -> Snapshots:
    """Return the attention at steps of the shipped model's training; not to be modified."""
    return Snapshots.from_file(FOLDER / "history.safetensors")


@st.cache_data(show_spinner=False)
def trained_pairs(name: str) -> dict[Side, list[int]]:
    """Return how many training pairs of a shipped model have a token at each position."""
    return load_position_counts(PRETRAINED / name / POSITION_COUNTS)


def trained_up_to(side: Side, name: str = DEFAULT) -> tuple[int, int]:
    """Return the last position of any training pair, and the last that 1 in 1,000 reached."""
    counts = trained_pairs(name)[side]
    return tuple(sum(count > least for count in counts) - 1 for least in (0, counts[0] / 1_000))
