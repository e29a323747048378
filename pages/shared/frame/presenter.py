"""Presenter mode: one slide at a time, its words and pictures alone on the screen."""

from __future__ import annotations

import re
import time
from pathlib import Path

import streamlit as st

from pages.browser import parts
from pages.shared.frame import talk
from pages.shared.link import address
from pages.shared.show.pictures import picked, show
from pages.shared.show.stage import NOTE, drawn, place, staged
from pages.shared.state.page import PAGES, enter, shown
from pages.shared.state.slide import begins, begun_on, slide, turn_to

PARAMETER = "talk"  # which slide, in an address
MODEL_GONE = "The model of this slide is no longer available: it was trained or uploaded elsewhere."
NOT_DRAWN = "The pictures of this slide are not drawn with what its scene has chosen."

STYLE = Path(__file__).with_name("presenter.css")


def asked_for() -> int | None:
    """Return the number of the slide to show, from 1; None outside of a talk."""
    asked = address.gone_to()
    if asked is not None:
        found = re.fullmatch("[1-9][0-9]{0,3}", asked.get(PARAMETER, ""))
        number = int(found[0]) if found else None
        if number:
            address.know(asked)
        if number or slide():
            turn_to(number)
    if slide() and slide() > len(talk.in_force()):
        turn_to(len(talk.in_force()))
    return slide()


def show_slide(number: int) -> None:
    """Draw a slide: its words, and the pictures of its page with the slide's own choices."""
    slides = talk.in_force()
    scene = slides[number - 1]
    page = PAGES[scene.page]
    enter(page)
    is_new = begins()
    if is_new:
        address.apply(scene.parameters, page)
        address.write({PARAMETER: str(number)})
    st.html(STYLE)
    st.html(f"<style>:root {{ --slide-size: {scene.size} }}</style>")
    words = parts.slide(scene.title, scene.words, number=number, count=len(slides))
    show(words, "slide-words", turn)
    if "model" in st.session_state.pop("refused_parameters", ()):
        st.info(MODEL_GONE)
    address.keep_to_the_model(page)
    with staged((NOTE, *scene.pictures)):
        page.body()
        if scene.pictures and drawn().isdisjoint((NOTE, *scene.pictures)):
            with place(NOTE):
                st.info(NOT_DRAWN)
    if is_new:
        talk.note_drawn(number, drawn())


def turn() -> None:
    """Show the slide that was asked for, or leave the talk if it is number 0; a callback."""
    number = picked("slide-words")
    if slide() is None:
        return  # a second quick Esc, or a late click on a slide that was left
    # What comes with a key press is where the browser was, however late, not where it went to.
    address.know(dict(st.query_params), time.monotonic())
    if number == 0:
        page = begun_on() or shown()
        turn_to(None)
        st.session_state.left_for = page.file
    elif isinstance(number, int) and 1 <= number <= len(talk.in_force()):
        turn_to(number)
