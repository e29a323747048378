"""The talk of a session: the visitor's own slides, or the ones that come with the app."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import streamlit as st

from pages.browser.parts import kept_text
from pages.shared.link import address
from pages.shared.link.slides import (
    MOST_SLIDES,
    Slide,
    first_pictures,
    read_talk,
    write_talk,
)
from pages.shared.show.pictures import picked, show
from pages.shared.state.page import Page
from pages.shared.state.slide import draw_anew

SHIPPED = Path(__file__).parents[3] / "talks" / "attention.json"
KEPT = "headlight-talk"  # the name under which the browser's tab keeps it


@cache
def shipped() -> tuple[Slide, ...]:
    """Return the slides of the ready talk."""
    return read_talk(SHIPPED.read_bytes())[0]


def own() -> tuple[Slide, ...]:
    """Return the visitor's own slides, if any."""
    return st.session_state.get("talk", ())


def in_force() -> tuple[Slide, ...]:
    """Return the slides that are presented."""
    return own() or shipped()


def change(slides: tuple[Slide, ...]) -> None:
    """Put other slides of the visitor's own in force; none for the ready talk."""
    st.session_state.talk = slides[:MOST_SLIDES]


def add_scene(page: Page) -> None:
    """Add what a page shows as a new slide; a callback."""
    if len(own()) >= MOST_SLIDES:
        st.toast(f"A talk has at most {MOST_SLIDES} slides.")
        return
    parameters = address.parameters(page, whole=True)
    change((*own(), Slide(page.key, parameters, page.title, "", first_pictures(page))))
    st.toast(f"Added as slide {len(own())}. Give it words on the page Talk.")


def keep() -> None:
    """Have the browser's tab keep the visitor's talk, so that a reload brings it back."""
    slides = st.session_state.get("talk")
    text = None if slides is None else write_talk(slides) if slides else ""

    def bring_back() -> None:
        kept = picked("kept")
        try:
            found, _ = read_talk(kept.encode() if isinstance(kept, str) else b"", kept=True)
        except ValueError:
            found = ()
        change(found)
        draw_anew()

    show(kept_text(KEPT, text), "kept", bring_back)
