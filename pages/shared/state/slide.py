"""Which slide of a talk is shown, if one is, and where the talk was begun."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.shared.state import edit_history
from pages.shared.state.page import PAGES, Page, shown


@dataclass(frozen=True)
class Origin:
    """A page, and what the visitor had chosen and changed when a talk was begun there."""

    page: Page
    choices: dict[str, Any]  # by key, without those at their defaults
    histories: dict[str, list]


def slide() -> int | None:
    """Return the number of the slide that is shown, from 1; None outside of a talk."""
    return st.session_state.get("slide")


def turn_to(number: int | None) -> None:
    """Show a slide, from 1, or leave the talk; call it in a callback, or before the page.

    Slides put their own choices in force; those from before the talk come back when it is left.
    """
    if slide() is None and number is not None:
        st.session_state.origin = _here()
    elif number is None:
        _go_back()
    st.session_state.slide = number
    draw_anew()


def begun_on() -> Page | None:
    """Return the page that the talk was begun on; None if the session began with a slide."""
    origin = st.session_state.get("origin")
    return origin and origin.page


def draw_anew() -> None:
    """Have the slide that is shown put its choices in force again."""
    st.session_state.pop("slide_drawn", None)


def begins() -> bool:
    """Return whether the slide is drawn for the first time since it was turned to; ask once."""
    begins = "slide_drawn" not in st.session_state
    st.session_state.slide_drawn = True
    return begins


def has_presented() -> bool:
    """Return whether the visitor has seen a slide in this session."""
    return "slide" in st.session_state


def _here() -> Origin | None:
    if shown() is None:
        return None
    state = st.session_state
    choices = {key: state[key] for key in _keys() if key in state}
    return Origin(shown(), choices, edit_history.copied())


def _go_back() -> None:
    origin = st.session_state.pop("origin", None)
    if origin is None:
        return
    for key in _keys() - origin.choices.keys():
        st.session_state.pop(key, None)
    st.session_state.update(origin.choices)
    edit_history.put_back(origin.histories)


def _keys() -> set[str]:
    return {choice.key for page in PAGES.values() for choice in page.linked}
