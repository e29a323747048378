"""Models: those in memory, what each can do, and a box that loads others."""

import streamlit as st

from pages.parts.models.entry import entry_box
from pages.parts.models.words import INTRO, SUGGESTIONS
from pages.shared.controls import loading
from pages.shared.runs.shelf import WILD, any_is_allowed, hub_patterns, is_allowed, rule
from pages.shared.show.glossary import caption
from pages.shared.state import models
from pages.shared.state.catalog import LONGEST_NAME
from pages.shared.state.page import Page
from pages.shared.widgets.choose import pick_one

WANTED = "wanted"  # the key of the typed name


def load_box() -> None:
    """Draw the box, the suggestions, and the progress of the model that was asked for."""
    asked_for, names = models.chosen(), suggestions()
    st.session_state.setdefault(WANTED, asked_for.name if asked_for.is_library else "")
    with st.form("load", border=False):
        row = st.container(horizontal=True, vertical_alignment="bottom")
        row.text_input(
            "Name on the Hugging Face Hub, or a folder on this computer", key=WANTED,
            persist_state="session", max_chars=LONGEST_NAME, placeholder=next(iter(names), ""),
        )  # fmt: skip
        asked = row.form_submit_button("Load")
    if names:
        pick_one("Suggestions", names, "suggestion", suggest)
    if asked and (name := st.session_state[WANTED].strip()):
        loading.ask_for(name)
    loading.progress()


def suggestions() -> list[str]:
    """Return names that may be loaded here: those the operator names, or else well-known ones."""
    named = [name for name in hub_patterns() if not WILD.search(name)]
    return named or [name for name in SUGGESTIONS if is_allowed(name)]


def suggest(name: str) -> None:
    """Put a name into the box; a callback."""
    st.session_state[WANTED] = name


def models_page() -> None:
    """Draw the page."""
    if only := rule():
        st.info(only)
    else:
        caption(INTRO)
    if any_is_allowed():
        load_box()
    st.subheader("Your models")
    chosen = models.chosen()
    for entry in {**models.choices(), chosen.key: chosen}.values():
        with st.container(border=True):
            entry_box(entry, is_chosen=entry.key == chosen.key)


PAGE = Page(
    key="models",
    title="Models",
    group="Models",
    purpose="Choose a model, or load another by its name",
    body=models_page,
)
