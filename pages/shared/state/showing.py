"""How and where the pictures of a page are shown, on the page itself or for example on slides."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:
    from headlight.pages.shared.show.riddle import Question
    from headlight.viz import CanvasPicture

NOTE = "slide-note"  # the key of the sentence in place of pictures that cannot be drawn
SAID = "slide-said"  # the key of the words above the pictures of a slide
DRAWN = "pictures_drawn"
LEAD = "lead"


class Showing:
    """How the pictures of a page are shown: by default all of them, where the page draws them.

    A wing (an optional part of the app) that shows them differently has a class derived from this
    one, and calls `show_by` with its object.
    """

    def keys(self) -> set[str]:
        """Return the keys of the pictures to be shown; an empty set means all pictures."""
        return set()

    def scene(self) -> Hashable:
        """Return a value that differs for each slide; None if no slide is shown."""
        return None

    def is_live(self) -> bool:
        """Return whether a click may lead to another page: true on a page, false on a slide."""
        return True

    def place(self, key: str) -> AbstractContextManager:
        """Return a context manager that puts the picture with this key in its place."""
        return nullcontext()

    def keeps(self, key: str, picture: Callable[[], CanvasPicture]) -> bool:
        """Return true if the picture goes into a file now, so that the page must not draw it."""
        return False

    def is_for_images(self) -> bool:
        """Return whether pictures are drawn only so that a file gets images of them."""
        return False

    def keeps_question(self, key: str, question: Question) -> bool:
        """Return true if the question goes into a file now, so that the page must not ask it."""
        return False

    def postpones(self, key: str, draw: Callable[[], object]) -> bool:
        """Return whether `draw` will be called later, when all questions are answered."""
        return False

    def as_file(
        self, page: str, parameters: Mapping[str, str], title: str, words: str, key: str
    ) -> dict[str, Any]:
        """Return the data that a file needs to open a page again with the same choices."""
        return {"page": page, "parameters": dict(parameters), "picture": key}

    def as_shown(self, picture: CanvasPicture) -> CanvasPicture:
        """Return a picture with the options it needs where it is shown, such as on a slide."""
        return picture


_in_force = [Showing()]


def showing() -> Showing:
    return _in_force[0]


def show_by(other: Showing) -> None:
    """Set how pictures are shown, on every page and in every session."""
    _in_force[0] = other


def is_wanted(*keys: str) -> bool:
    """Return whether a slide or link asks for one of these pictures by its key."""
    return not showing().keys().isdisjoint(keys)


def place(key: str, of: object = None) -> AbstractContextManager:
    """Return a context manager that puts the picture with this key in its place.

    `drawn()[key]` is then `of`, what the picture is about.
    """
    drawn()[key] = of
    return showing().place(key)


def drawn() -> dict[str, Any]:
    """Return what the pictures drawn on this page so far are about, by key; see `place`."""
    return st.session_state.setdefault(DRAWN, {})


def begin() -> None:
    st.session_state[DRAWN] = {}
    st.session_state[LEAD] = ""


def say(sentence: str, key: str, *, where: str = "", numbers: str = "") -> None:
    """Draw the sentence that sums up the page; a slide made from the page has it as its title.

    On the page, `where` comes before the sentence and `numbers` after it; the title has neither.
    """
    entitle(sentence)
    with st.container(key=f"lead-{key}"):
        st.text(f"{where}{sentence} {numbers}".rstrip())


def entitle(sentence: str) -> None:
    """Set the title that a slide made from the page has; a full stop at its end is dropped."""
    st.session_state[LEAD] = sentence[:1].upper() + sentence[1:].removesuffix(".")


def lead() -> str:
    return st.session_state.get(LEAD, "")
