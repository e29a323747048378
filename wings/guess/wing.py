"""Guess first: a question in place of a picture, until the visitor has guessed its content.

Until then the picture is neither drawn nor sent.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256

import streamlit as st

from headlight.pages.browser.library import mounted
from headlight.pages.shared.show.pictures import component
from headlight.pages.shared.show.riddle import (
    NO_GUESS,
    Riddle,
    is_question,
    question_key,
)
from headlight.pages.shared.show.saving import About
from headlight.pages.shared.show.sight import reveal_if_sought, seek
from headlight.pages.shared.state.choices import GUESS, GUESS_ROW, LIT, chosen, put
from headlight.pages.shared.state.page import Page, shown
from headlight.pages.shared.state.showing import SAID, drawn, place, showing
from headlight.pages.shared.state.wings import Wing
from headlight.pages.shared.widgets.choose import choose
from headlight.viz import CanvasPicture
from headlight.wings.guess.part import question

__all__ = ["WING"]

NOTHING_ASKED = (
    "**Guess first** has no question about what is shown here. It has one about {pictures}."
)
ASKED_BELOW = "**Guess first** asks below: a question is in the place of a picture."
HIDDEN = "A picture here is hidden while **Guess first** is on: it would give the answers away."
ROOM_FOR_NOTE = "room_for_note"


class Guess(Wing):
    """Asks questions before pictures, and hides pictures that would reveal the answers."""

    def asks(
        self, keys: Sequence[str], ask: Callable[[], Riddle], of: About | None, what: str
    ) -> bool:
        """Ask a question about a picture; return True while the picture must not be drawn.

        While a talk is saved, store the question with its picture for the file instead.
        """
        if not chosen(GUESS):
            return False
        on_slide = showing().keys()
        key = next((key for key in keys if key in on_slide), keys[0])
        riddle = ask()
        if showing().keeps_question(key, (open_part(riddle), riddle.verdicts)):
            return False
        return not is_answered(key, riddle, (of, what))

    def hides(self, key: str, of: About | None, draw: Callable[[], object]) -> bool:
        """Hide a picture while Guess first is on, and return True.

        A slide shows the picture once all questions of the slide are answered.
        """
        if not chosen(GUESS) or showing().is_for_images():
            return False
        if not showing().postpones(key, draw) and of:
            st.caption(HIDDEN)
        return True

    def beside_title(self, page: Page) -> None:
        """Draw the switch of Guess first if the page has questions."""
        if page.riddles:
            choose(GUESS, on_change=begin_guessing)

    def above(self, page: Page) -> None:
        """Leave room above the page for a note on its questions."""
        if page.riddles and chosen(GUESS):
            st.session_state[ROOM_FOR_NOTE] = st.empty()

    def after(self, page: Page) -> None:
        """Write above a page that it asks a question now, or else which pictures have one."""
        room = st.session_state.pop(ROOM_FOR_NOTE, None)
        if room and any(map(is_question, drawn())):
            room.caption(ASKED_BELOW)
        elif room:
            asked = page.asks or ", ".join(page.pictures[key] for key in page.riddles)
            room.caption(NOTHING_ASKED.format(pictures=asked))


WING = Guess()


def begin_guessing() -> None:
    """Unpin the pinned row of a map, ask about that row, and scroll to the question; a callback."""
    pinned = chosen(LIT)
    put(GUESS_ROW, int(pinned[1:]) - 1 if pinned.startswith("q") else None)
    put(LIT, "")
    seek(GUESS.key)


def is_answered(key: str, riddle: Riddle, of: tuple[About | None, str]) -> bool:
    """Ask a question in place of the picture with this key, and return whether it is answered.

    `of`, the picture's subject and title, is written in the footer of a slide. The guess is the
    state of the part that asks; Streamlit forgets it once that part is no longer drawn.
    """
    about = shown().key, showing().scene(), of[0], riddle
    name = f"{question_key(key)}-{sha256(repr(about).encode()).hexdigest()[:12]}"
    guess = st.session_state.get(name, {}).get("guess")
    answered = type(guess) is int and NO_GUESS <= guess < len(riddle.options)
    drawn()[question_key(key)] = not answered
    part = question(riddle.asks, said=riddle.verdict(guess)) if answered else open_part(riddle)
    where = showing().place(SAID) if answered else place(key, of)
    with where, st.container(key=question_key(key)):
        reveal_if_sought(question_key(key), by=GUESS.key)
        component(part.part)(data=mounted(part), key=name, on_guess_change=lambda: None)
    return answered


def open_part(riddle: Riddle) -> CanvasPicture:
    options = list(zip(riddle.options, riddle.names, strict=True))
    return question(riddle.asks, options, riddle.boards)
