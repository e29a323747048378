"""Tabs of which the open one alone is computed, and is a choice of the scene."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

Section = Callable[[], None]


def tabs(sections: Mapping[str, Section], key: str) -> None:
    """A tab for each section, by its title; what `key` says in the session is open."""
    state = st.session_state
    number = state.get(f"{key}-number", 0)
    if state.get(f"{key}-{number}", state[key]) != state[key]:
        # Something else than a click opened another one. A browser that then draws the tabs anew,
        # as after a slide, would ask for the one clicked before: of other tabs it does not know.
        number += 1
        state[f"{key}-{number}"] = state[key]
    state[f"{key}-number"] = number
    widget = f"{key}-{number}"
    state.setdefault(widget, state[key])

    def clicked() -> None:
        state[key] = state[widget]

    drawn = st.tabs(list(sections), key=widget, on_change=clicked)
    for tab, section in zip(drawn, sections.values(), strict=True):
        if tab.open:
            with tab:
                section()
