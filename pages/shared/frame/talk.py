"""The talk of a session: the visitor's own slides, or the ones that come with the app."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import streamlit as st

from pages.browser.parts import kept_text
from pages.shared.link import address
from pages.shared.link.slides import (
    MOST_SLIDES,
    PICTURES,
    Slide,
    first_pictures,
    read_talk,
    write_talk,
)
from pages.shared.show.pictures import picked, show

SHIPPED = Path(__file__).parents[3] / "talks" / "attention.json"
KEPT = "headlight-talk"  # the name under which the browser's tab keeps it


@cache
def shipped() -> tuple[Slide, ...]:
    """The ready talk."""
    return read_talk(SHIPPED.read_bytes())[0]


def own() -> tuple[Slide, ...]:
    """The visitor's own slides; empty where there are none."""
    return st.session_state.get("talk", ())


def in_force() -> tuple[Slide, ...]:
    """The slides that are presented."""
    return own() or shipped()


def change(slides: tuple[Slide, ...]) -> None:
    """Put other slides of the visitor's own in force; none for the ready talk."""
    st.session_state.talk = slides[:MOST_SLIDES]


def add_scene() -> None:
    """Add what the page shows as a slide of its own; a callback."""
    if len(own()) >= MOST_SLIDES:
        st.toast(f"A talk has at most {MOST_SLIDES} slides.")
        return
    page = st.session_state.page
    parameters = address.current().parameters(page, whole=True)
    change((*own(), Slide(page, parameters, page, "", first_pictures(page, parameters))))
    st.toast(f"Added as slide {len(own())}. Give it words on the page Talk.")


def can_be_shown(page: str) -> bool:
    """Whether a slide can show a page."""
    return page in PICTURES


def keep() -> None:
    """Have the browser's tab keep the visitor's talk, so that a reload brings it back."""
    slides = st.session_state.get("talk")
    text = None if slides is None else write_talk(slides) if slides else ""
    show(kept_text(KEPT, text), "kept", _bring_back)


def _bring_back() -> None:
    text = picked("kept")
    try:
        slides, _ = read_talk(text.encode() if isinstance(text, str) else b"", kept=True)
    except ValueError:
        slides = ()
    change(slides)
    st.session_state.turned = True
