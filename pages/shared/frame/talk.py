"""The talk of a session: the visitor's own slides, or the ones that come with the app."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from functools import cache
from pathlib import Path
from secrets import token_urlsafe

import streamlit as st

from pages.browser.parts import browser_text
from pages.shared.link import address
from pages.shared.link.slides import (
    LARGEST_FILE,
    MOST_SLIDES,
    Slide,
    first_pictures,
    read_talk,
    write_talk,
)
from pages.shared.show.pictures import picked, show
from pages.shared.show.stage import drawn
from pages.shared.state.page import PAGES, Page
from pages.shared.state.slide import draw_anew

SHIPPED = Path(__file__).parents[3] / "talks" / "attention.json"
KEPT = "headlight-talk"  # the name under which the browser keeps it
LONGEST = 50  # changes that can be undone
ADDED = "Added as slide {number}. Give it words on the page Talk."
NOTHING_DRAWN = (
    "Not added: nothing that this page shows now can stand on a slide. Choose something else to "
    "be shown, and press again."
)
TOO_LARGE = f"Not added: a talk has at most {MOST_SLIDES} slides and {LARGEST_FILE // 1000} kB."
NOT_KEPT = (
    "This browser does not let the talk be kept. Save it as a file on the page Talk before you "
    "close or reload this tab."
)


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
    earlier = st.session_state.setdefault("earlier_talks", [])
    if slides != own():
        earlier.append(own())
        del earlier[:-LONGEST]
    st.session_state.talk = slides[:MOST_SLIDES]


def can_undo() -> bool:
    """Return whether there is a change to undo."""
    return bool(st.session_state.get("earlier_talks"))


def undo() -> None:
    """Bring the slides before the last change back."""
    if can_undo():
        st.session_state.talk = st.session_state.earlier_talks.pop()


def add_scene(page: Page) -> None:
    """Add what a page shows as a new slide, which `finish` completes; a callback."""
    parameters = address.parameters(page, whole=True)
    scene = Slide(page.key, parameters, page.title, "", first_pictures(page))
    slides = (*own(), scene)
    if len(slides) > MOST_SLIDES or len(write_talk(slides).encode()) > LARGEST_FILE:
        st.toast(TOO_LARGE)
        return
    change(slides)
    st.session_state.added = scene


def finish(page: Page) -> None:
    """Give a slide that was just added the pictures that its page has drawn, and draw it again."""
    scene = st.session_state.pop("added", None)
    if scene is None or own()[-1:] != (scene,):
        return
    found = _drawn_of(page, drawn())
    if PAGES[scene.page] is not page:
        st.session_state.told = ADDED.format(number=len(own()))
    elif found:
        pictures = tuple(key for key in scene.pictures if key in found) or found[:1]
        _complete(len(own()), pictures=pictures, drawn=found)
        st.session_state.told = ADDED.format(number=len(own()))
    else:
        undo()
        st.session_state.told = NOTHING_DRAWN
    st.rerun()


def note_drawn(number: int, keys: Set[str]) -> None:
    """Note which pictures the scene of a slide of the visitor's own draws."""
    if own() and (found := _drawn_of(PAGES[own()[number - 1].page], keys)):
        _complete(number, drawn=found)


def _drawn_of(page: Page, keys: Set[str]) -> tuple[str, ...]:
    return tuple(key for key in page.pictures if key in keys)


def _complete(number: int, **changes: object) -> None:
    """Change what the visitor has not chosen of a slide, which is nothing to undo."""
    slides = list(own())
    slides[number - 1] = replace(slides[number - 1], **changes)
    st.session_state.talk = tuple(slides)


def keep() -> None:
    """Have the browser keep the visitor's talk, and take up the one that it has kept.

    It is in the browser's own storage, for all of its tabs, and stays there until the visitor
    removes the slides; the server forgets it with the session.
    """
    state = st.session_state
    session = state.setdefault("talk_session", token_urlsafe())
    slides = state.get("talk")
    text = None if slides is None else write_talk(slides) if slides else ""
    heard = state.get("talk_heard", False)
    show(browser_text(KEPT, text, session=session, heard=heard), "kept", take_up)
    if words := state.pop("told", None):
        st.toast(words)


def take_up() -> None:
    """Take up the talk that the browser has kept, or that was made in another tab; a callback.

    Slides that were added before the browser told of the kept ones come after them. What cannot be
    read is left alone.
    """
    match picked("kept"):
        case {"failed": True}:
            st.session_state.told = NOT_KEPT
            return
        case {"text": str(text), "first": bool(is_first)}:
            pass
        case _:
            return
    if is_first and st.session_state.get("talk_heard"):
        return  # told twice
    st.session_state.talk_heard = True
    try:
        found = read_talk(text.encode(), kept=True)[0] if text else ()
    except ValueError:
        return
    if is_first:
        st.session_state.talk = (*found, *own())[:MOST_SLIDES]
    else:
        change(found)
    draw_anew()
