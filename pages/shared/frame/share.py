"""What hands a scene on: its link, a slide of it, and the talk."""

from __future__ import annotations

import streamlit as st

from pages.browser.parts import copy_link
from pages.shared.frame import classroom, talk
from pages.shared.show.keys import keys
from pages.shared.show.pictures import show
from pages.shared.state.lesson import Lesson, lesson
from pages.shared.state.page import Page
from pages.shared.state.slide import has_presented, turn_to


def tools(page: Page) -> None:
    """Draw what copies the link of the scene, what makes it a slide of a talk, and the keys."""
    with st.container(key="share", gap="xsmall"):
        if lesson() != Lesson():
            st.caption("A class: what is not needed now is closed.")
            keys()
            return
        if page.pictures:
            add = {"on_click": talk.add_scene, "args": [page]}
            st.button("Add to talk", **add, width="stretch", key="add-to-talk")
            if (place := talk.opened()) is not None:
                update = {"on_click": talk.update_scene, "args": [page], "width": "stretch"}
                st.button(f"Update slide {place + 1}", **update, key="update-slide")
        with st.container(horizontal=True, gap="xsmall"):
            st.button("Present", on_click=turn_to, args=[1], width="stretch", key="present")
            if st.button("QR", key="for-a-class", help="This scene for a class: its QR code"):
                classroom.ask(page)
        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
            show(copy_link(), "copy-link")
            keys()


def tour_link() -> None:
    """Offer the ready talk as a tour of the app to those who have not seen it."""
    if has_presented() or talk.own() or lesson() != Lesson():
        return
    label = f"Take the tour ({len(talk.in_force())} scenes)"
    with st.container(key="tour"):
        st.button(label, on_click=turn_to, args=[1], key="take-the-tour")
