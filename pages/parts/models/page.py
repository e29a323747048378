"""Models: those in memory, what each can do, and a box that loads others."""

from __future__ import annotations

import streamlit as st

from pages.parts.models.box import load_box
from pages.parts.models.entry import entry_box
from pages.parts.models.words import INTRO
from pages.shared.controls import loading
from pages.shared.runs import limits
from pages.shared.show.glossary import caption
from pages.shared.state import models
from pages.shared.state.page import Page


def models_page() -> None:
    """Draw the page."""
    if limits.OTHER_MODELS:
        caption(INTRO)
        load_box()
    else:
        st.info(loading.OFF)
    st.subheader("Your models")
    chosen = models.chosen()
    for entry in {**models.choices(), chosen.key: chosen}.values():
        with st.container(border=True):
            entry_box(entry, is_chosen=entry.key == chosen.key)


MODELS = Page(
    key="models",
    title="Models",
    group="Models",
    purpose="Choose a model, or load another by its name",
    body=models_page,
)
