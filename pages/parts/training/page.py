"""Training: train a small Transformer, and see its heads form."""

from __future__ import annotations

import streamlit as st

from pages.parts.training.lessons import SCHEDULE_BY, lessons
from pages.parts.training.options import CHOICES, choose_options
from pages.parts.training.run import TOY_KIND, watch
from pages.parts.training.use import upload
from pages.parts.training.words import INTRO
from pages.shared.state.page import Page


def training() -> None:
    """Draw the page."""
    st.caption(INTRO)
    options = choose_options()
    watch(ready=options is not None)
    upload()
    if options:
        st.subheader("Learning rate and loss")
        lessons(options)


TRAINING = Page(
    key="training",
    title="Training",
    purpose="Watch attention being learned, from random weights",
    body=training,
    choices=(*CHOICES, SCHEDULE_BY, TOY_KIND),
)
