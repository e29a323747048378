"""The box that asks for a model of the transformers library, by name or folder."""

from __future__ import annotations

import streamlit as st

from pages.parts.models.words import SUGGESTIONS
from pages.shared.controls import loading
from pages.shared.runs.allowed import WILD, hub_patterns, is_allowed
from pages.shared.runs.shelf import get_ready
from pages.shared.state import models
from pages.shared.state.catalog import LONGEST_NAME
from pages.shared.widgets.choose import pick_one

WANTED = "wanted"  # the key of what was typed


def load_box() -> None:
    """Draw the box and the suggestions, and how far the model is that was asked for."""
    get_ready()
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
    """Return the names that may be loaded here: those the operator names, or else known ones."""
    named = [name for name in hub_patterns() if not WILD.search(name)]
    return named or [name for name in SUGGESTIONS if is_allowed(name)]


def suggest(name: str) -> None:
    """Put a name into the box; a callback."""
    st.session_state[WANTED] = name
