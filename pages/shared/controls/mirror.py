"""Widgets that show what other parts of a page change too, such as a fader beside switches."""

from __future__ import annotations

import time

import streamlit as st

UNDERWAY = 2.0  # seconds that a browser may take to show a new value


def mirror(key: str, value: object) -> None:
    """Give a widget a value, in a run before it is drawn."""
    if key in st.session_state and st.session_state[key] != value:
        replaced = st.session_state.setdefault("replaced", {})
        replaced[key] = st.session_state[key], time.monotonic()
    st.session_state[key] = value


def moved(key: str) -> bool:
    """Whether a person changed the widget; for its callback.

    With every click a browser sends the values of all widgets. Where it did not yet have the one
    that `mirror` gave, Streamlit takes the value before for a change.
    """
    value, when = st.session_state.get("replaced", {}).get(key, (None, float("-inf")))
    return st.session_state[key] != value or time.monotonic() - when > UNDERWAY
