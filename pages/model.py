"""What the model is, what it cannot do, and how it came to be: its card, its curves, its heads."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from model.history import History
from model.translator import PRETRAINED
from pages.shared.controls import choose_kind
from pages.shared.frame import open_page
from pages.shared.models import DEFAULT
from pages.shared.pictures import show
from viz import head_grid, training_curves

FOLDER = PRETRAINED / DEFAULT


@st.cache_resource
def history() -> History:
    """The attention recorded while the model was trained; not to be modified."""
    return History.from_file(FOLDER / "history.safetensors")


@st.fragment
def heads_over_time() -> None:
    """All heads on an example sentence, at a step of the training."""
    recorded = history()
    numbers = range(len(recorded.sentences))
    choices, picture = st.columns([2, 3], gap="medium")
    with choices:
        number = st.selectbox("Sentence", numbers, format_func=recorded.sentences.__getitem__)
        kind = choose_kind("history_kind", default="cross")
        step = st.select_slider("Training step", recorded.steps, value=recorded.steps[-1])
        st.caption(
            "The decoder reads the finished model's translation at every step, so that the maps "
            "can be compared. At step 0 nothing is learned yet."
        )
    weights = recorded.weights[number][kind][recorded.steps.index(step)].numpy()
    with picture:
        show(head_grid(weights, *recorded.tokens(number, kind)), "history")


open_page("The model")
st.markdown((FOLDER / "README.md").read_text(encoding="utf-8").partition("\n")[2])
st.subheader("How it learned")
curves = training_curves(pd.read_csv(FOLDER / "log.csv"))
for column, curve in zip(st.columns(len(curves)), curves, strict=True):
    column.altair_chart(curve)
heads_over_time()
