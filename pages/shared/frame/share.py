"""What hands a scene on: its link, a slide of it, and the talk."""

from __future__ import annotations

import streamlit as st

from pages.browser.parts import copy_link
from pages.shared.frame import presenter, talk
from pages.shared.show.pictures import show
from pages.shared.state.page import Page


def tools(page: Page) -> None:
    """Draw what copies the link of the scene, and what makes it a slide of a talk."""
    st.markdown("**Share**")
    show(copy_link(), "copy-link")
    if page.pictures:
        st.button(
            "Add to talk",
            on_click=talk.add_scene,
            args=[page],
            width="stretch",
            key="add-to-talk",
        )
    st.button("Present", on_click=presenter.present, width="stretch", key="present")


def tour_link() -> None:
    """Offer the ready talk as a tour of the app to those who have not seen it."""
    if st.session_state.get("toured") or talk.own():
        return
    label = f"Take the tour ({len(talk.shipped())} scenes)"
    with st.container(key="tour"):
        st.button(label, on_click=presenter.present, type="tertiary", key="take-the-tour")
