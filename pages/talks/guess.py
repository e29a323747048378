"""Guess first: a picture is neither drawn nor sent before somebody has guessed what it shows."""

from contextlib import AbstractContextManager
from hashlib import sha256

import streamlit as st

from pages.browser import parts
from pages.browser.library import mounted
from pages.shared.show.pictures import component
from pages.shared.show.riddle import NO_GUESS, Riddle
from pages.shared.show.saving import About
from pages.shared.state.choices import GUESS, GUESS_ROW, QUERY, chosen, put
from pages.shared.state.page import Page, shown
from pages.shared.state.showing import drawn, place
from pages.shared.widgets.choose import choose
from pages.talks.slide import slide
from viz import CanvasPicture

HIDDEN = "Hidden as long as **Guess first** is on: it would give the answers away."


def is_on() -> bool:
    return chosen(GUESS)


def switch(page: Page) -> None:
    """Draw the switch of a page that has riddles.

    The first row that is asked about is the query that was chosen last.
    """
    if GUESS in page.choices:
        choose(GUESS, on_change=lambda: put(GUESS_ROW, chosen(QUERY)))


def is_answered(
    key: str, riddle: Riddle, of: tuple[About | None, str], said: AbstractContextManager
) -> bool:
    """Ask a riddle in the place of the picture with this key, and return whether it is answered.

    The picture's subject and title, `of`, are in the footer of a slide. The verdict is written
    where it is to be `said`. The guess is the state of the part that asks, and is forgotten once
    that is no longer drawn.
    """
    asked = shown().key, slide(), of[0], riddle
    name = f"{question_key(key)}-{sha256(repr(asked).encode()).hexdigest()[:12]}"
    guess = st.session_state.get(name, {}).get("guess")
    answered = type(guess) is int and NO_GUESS <= guess < len(riddle.options)
    drawn()[question_key(key)] = not answered
    part = parts.guess(riddle.asks, said=riddle.verdict(guess)) if answered else open_part(riddle)
    with said if answered else place(key, of), st.container(key=question_key(key)):
        component(part.part)(data=mounted(part), key=name, on_guess_change=lambda: None)
    return answered


def open_part(riddle: Riddle) -> CanvasPicture:
    """Return the part that asks a riddle without an answer yet."""
    options = list(zip(riddle.options, riddle.names, strict=True))
    return parts.guess(riddle.asks, options, riddle.boards)


def question_key(key: str) -> str:
    """Return the key of the part that asks a riddle about the picture with this key."""
    return f"question-{key}"


def is_open(key: str) -> bool | None:
    """Return whether the riddle about a picture is open; None if none is asked."""
    return drawn().get(question_key(key))
