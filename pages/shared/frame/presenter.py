"""Presenter mode: one slide at a time, its words and pictures alone on the screen."""

from __future__ import annotations

import re

import streamlit as st

from pages.browser import parts
from pages.shared.frame import talk
from pages.shared.link import address
from pages.shared.show.pictures import picked, show
from pages.shared.show.stage import NOTE, staged
from pages.shared.state.page import PAGES

PARAMETER = "talk"  # which slide, in an address
MODEL_GONE = "The model of this slide is no longer available: it was trained or uploaded elsewhere."

# --slide-scale fits the whole to the screen and --slide-fit the pictures that are too tall, see
# slide.js.
STYLE = """
.stSidebar, .stAppHeader, [data-testid="stExpandSidebarButton"] {{ display: none !important; }}
.stMainBlockContainer {{ zoom: var(--slide-scale, 1); padding: 20px 40px 0 !important; }}
.st-key-offstage {{ display: none; }}
.st-key-stage {{ --on-page: none; zoom: calc({size} * var(--slide-fit, 1)); }}
@media (min-width: 641px) {{ .st-key-stage > * {{ flex: 1 1 0; min-width: 0; }} }}
"""


def asked_for() -> int | None:
    """Return the number of the slide to show, from 1; None outside of a talk."""
    state = st.session_state
    asked = address.gone_to()
    if asked is not None:
        state.slide = number_of(asked.get(PARAMETER, ""))
        if state.slide is not None:
            state.toured = True
            state.pop("slide_drawn", None)
            address.arrived(asked)
    if state.get("slide") is not None:
        state.slide = min(state.slide, len(talk.in_force()))
    return state.get("slide")


def number_of(text: str) -> int | None:
    """Return the number of a slide in an address, or None."""
    return int(text) if re.fullmatch("[1-9][0-9]{0,3}", text) else None


def present(number: int = 1) -> None:
    """Begin to present with a slide; a callback."""
    st.session_state.update(slide=number, toured=True)
    st.session_state.pop("slide_drawn", None)


def show_slide(number: int) -> None:
    """Draw a slide: its words, and the pictures of its page with the slide's own choices."""
    slides = talk.in_force()
    slide = slides[number - 1]
    page = PAGES[slide.page]
    st.session_state.page = page
    if st.session_state.get("slide_drawn") != number:
        st.session_state.slide_drawn = number
        address.apply(slide.parameters, page)
        address.write({PARAMETER: str(number)})
    st.html(f"<style>{STYLE.format(size=slide.size)}</style>")
    words = parts.slide(slide.title, slide.words, number=number, count=len(slides))
    show(words, "slide-words", turn)
    if "model" in st.session_state.pop("refused_parameters", ()):
        st.info(MODEL_GONE)
    address.keep_to_the_model(page)
    with staged((NOTE, *slide.pictures)):
        page.body()
    talk.keep()


def turn() -> None:
    """Show the slide that was asked for, or leave the talk if it is number 0; a callback."""
    number = picked("slide-words")
    if not address.in_talk():
        return  # a second quick Esc, or a late click on a slide that was left
    if number == 0:
        leave()
    elif isinstance(number, int) and 1 <= number <= len(talk.in_force()):
        present(number)


def leave() -> None:
    """End the talk on the page of the slide that is shown."""
    number, st.session_state.slide = st.session_state.slide, None
    st.session_state.left_for = PAGES[talk.in_force()[number - 1].page].file
