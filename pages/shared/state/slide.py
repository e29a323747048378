"""Which slide of a talk is shown, if one is."""

from __future__ import annotations

import streamlit as st


def slide() -> int | None:
    """Return the number of the slide that is shown, from 1; None outside of a talk."""
    return st.session_state.get("slide")


def turn_to(number: int | None) -> None:
    """Show a slide, from 1, or leave the talk; call it in a callback, or before the page."""
    st.session_state.slide = number
    draw_anew()


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
