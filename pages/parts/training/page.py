"""Training: train a small Transformer, and see its heads form."""

import streamlit as st

from pages.parts.training.lessons import SCHEDULE_BY, lessons
from pages.parts.training.options import CHOICES, choose_options
from pages.parts.training.run import TOY_KIND, TOY_RUN, watch
from pages.parts.training.use import upload
from pages.parts.training.words import INTRO
from pages.shared.show.glossary import caption
from pages.shared.state.page import Page


def training() -> None:
    """Draw the page."""
    chosen, seen = st.columns([1, 2], gap="medium")
    with chosen:
        caption(INTRO)
        options = choose_options()
    with seen:
        watch(ready=options is not None)
        upload()
    if options:
        st.subheader("Learning rate and loss")
        lessons(options)


PAGE = Page(
    key="training",
    title="Training",
    group="Train",
    purpose="Watch attention being learned, from random weights",
    body=training,
    choices=(*CHOICES, SCHEDULE_BY, TOY_KIND, TOY_RUN),
    pictures={
        "toy_film": "the heads over the training",
        "toy_curves": "the training curves",
        "toy_lesion": "induction without the previous-token head",
        "toy_output": "what the model writes",
        "toy_answer": "the right answer",
        "toy_rates": "the learning rate",
        "toy_smoothing": "label smoothing",
    },
    first="toy_film",
)
