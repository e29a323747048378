"""What hands a scene on: its link, a slide of it, and the talk."""

from __future__ import annotations

import streamlit as st

from pages.browser.parts import copy_link
from pages.shared.frame import presenter, talk
from pages.shared.show.pictures import show


def tools(page: str) -> None:
    """The link of the scene, and its way into a talk."""
    st.markdown("**Share**")
    show(copy_link(), "copy-link")
    if talk.can_be_shown(page):
        st.button("Add to talk", on_click=talk.add_scene, width="stretch", key="add-to-talk")
    st.button("Present", on_click=presenter.present, width="stretch", key="present")


def tour_link() -> None:
    """The ready talk, offered to those who have not seen it, as a tour of the app."""
    if st.session_state.get("toured") or talk.own():
        return
    label = f"Take the tour ({len(talk.shipped())} scenes)"
    with st.container(key="tour"):
        st.button(label, on_click=presenter.present, type="tertiary", key="take-the-tour")
