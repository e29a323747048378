"""Where the pictures of a slide are drawn, and where they are kept for a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from pages.shared.show.saving import About
from pages.shared.state.page import alone, shown
from pages.shared.state.showing import NOTE, Showing
from pages.talks import guess
from pages.talks.slide import slide
from pages.talks.slides import FORMAT, LONGEST_TITLE, LONGEST_WORDS, VERSION, Slide
from viz import CanvasPicture
from viz.canvas import unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pages.shared.show.riddle import Riddle

OFFSTAGE = "offstage"  # the key of everything that a slide does not show
STAGE = "stage"
KEPT = "pictures_kept"
SAID = "slide-said"  # the key of the words about the pictures of a slide, above them


class Kept(NamedTuple):
    """A picture kept for a file, and those that replace it, by the answer of a click in it."""

    picture: Any
    answers: Mapping[str, Any]


class Stage(Showing):
    """Draws only the slide's pictures on a slide; with Guess first, a riddle before a picture."""

    def keys(self) -> set[str]:
        """Return the keys of the pictures that the slide shows; none on a page."""
        return set(st.session_state.get(STAGE, {})) - {NOTE, SAID}

    def scene(self) -> int | None:
        return slide()

    def is_live(self) -> bool:
        """Return False on a slide, here or in a frame elsewhere: there would be no way back."""
        page = shown()
        return slide() is None and (page is None or not alone(page))

    def place(self, key: str) -> AbstractContextManager:
        """Return the place on the slide, if it shows the picture."""
        return st.session_state.get(STAGE, {}).get(key) or nullcontext()

    def keeps(
        self,
        key: str,
        picture: Callable[[], CanvasPicture],
        answers: Callable[[], Mapping[str, CanvasPicture]],
    ) -> bool:
        """Keep a picture while a talk is saved, if the slide shows it."""
        if KEPT not in st.session_state:
            return False
        if key in self.keys():
            st.session_state[KEPT][key] = Kept(picture(), answers())
        return True

    def asks(
        self, keys: Sequence[str], ask: Callable[[], Riddle], of: About | None, what: str
    ) -> bool:
        """Ask a riddle with Guess first; a file keeps it next to the picture."""
        key = next((key for key in keys if key in self.keys()), keys[0])
        if not guess.is_on():
            return False
        riddle = ask()
        if KEPT in st.session_state:
            if key in self.keys():
                question = guess.open_part(riddle), riddle.verdicts
                st.session_state[KEPT][guess.question_key(key)] = question
            return False
        return not guess.is_answered(key, riddle, (of, what), self.place(SAID))

    def hides(self, of: About | None) -> bool:
        """Hide it with Guess first; a note says so in place of a picture that could be saved."""
        if guess.is_on() and of:
            st.caption(guess.HIDDEN)
        return guess.is_on()

    def as_file(
        self, page: str, parameters: Mapping[str, str], title: str, words: str, key: str
    ) -> dict[str, Any]:
        """Return a talk of one slide."""
        scene = Slide(page, parameters, title[:LONGEST_TITLE], words[:LONGEST_WORDS], (key,))
        return {FORMAT: VERSION, "slides": [asdict(scene)]}

    def as_shown(self, picture: CanvasPicture) -> CanvasPicture:
        """Return a picture that does not answer with its step: a slide chooses that itself."""
        if slide() is None:
            return picture
        header, _ = unpacked(picture.data)
        return picture.having(tells=False) if header.get("tells") else picture


@contextmanager
def staged(pictures: Sequence[str]) -> Iterator[None]:
    """Draw the pictures with these keys on a slide, and hide everything else that is drawn."""
    places = {SAID: st.container(key=SAID)}
    stage = st.container(key=STAGE, horizontal=True)
    places |= {key: stage.container(key=f"on-{key}") for key in (NOTE, *pictures)}
    st.session_state[STAGE] = places
    try:
        with st.container(key=OFFSTAGE):
            yield
    finally:
        del st.session_state[STAGE]


@contextmanager
def keeping() -> Iterator[dict[str, Any]]:
    """Keep pictures, and the riddles about them, by key for a file instead of drawing them."""
    kept = st.session_state[KEPT] = {}
    try:
        yield kept
    finally:
        st.session_state.pop(KEPT, None)


def clear() -> None:
    """Remove the places of a slide.

    A run that the next click interrupts may leave them behind: `staged` is interrupted there too,
    wherever it reads or writes the session's state.
    """
    st.session_state.pop(STAGE, None)
    st.session_state.pop(KEPT, None)
