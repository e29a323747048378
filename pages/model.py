"""What the model is, what it cannot do, and how it came to be: its card, its curves, its heads."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.shared.controls.choose import choose_kind
from pages.shared.frame.frame import open_page
from pages.shared.link import address
from pages.shared.runs.records import FOLDER, recorded_training
from pages.shared.show.pictures import show
from pages.shared.show.saving import about
from pages.shared.state.scene import KINDS
from viz import attention_film, training_curves

CURVES = {  # the log's columns, and what they are called
    "valid_loss": "Loss on unseen pairs, in nats a token",
    "bleu": "BLEU on unseen pairs",
    "learning_rate": "Learning rate",
}


@address.fragment
def heads_over_time() -> None:
    """All heads on an example sentence, at steps of the training."""
    recorded = recorded_training()
    numbers = range(len(recorded.sentences))
    sentence, kinds = st.columns([3, 2], gap="medium")
    with sentence:
        number = st.selectbox("Sentence", numbers, format_func=recorded.sentences.__getitem__)
    with kinds:
        kind = choose_kind("history_kind", default="cross")
    weights = recorded.weights[number][kind].numpy()  # (steps, layers, heads, Q, K)
    film = attention_film(weights, recorded.steps, *recorded.tokens(number, kind), selected=(1, 2))
    about(recorded.sentences[number])
    show(film, "history", save=f"{KINDS[kind]} over the training")
    st.caption(
        "The decoder reads the finished model's translation at every step, so that the maps can be "
        "compared. At step 0 nothing is learned yet."
    )


open_page("The model")
st.markdown((FOLDER / "README.md").read_text(encoding="utf-8").partition("\n")[2])
st.subheader("How it learned")
log = pd.read_csv(FOLDER / "log.csv")
curves = {title: (log["step"], log[column]) for column, title in CURVES.items()}
about(model="en-fr")
show(training_curves({"en-fr": curves}), "curves", save="Training curves")
heads_over_time()
