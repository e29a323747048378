"""How and where the pictures of a page are shown, which a wing such as the slides can change."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:
    from headlight.pages.shared.show.riddle import Question
    from headlight.viz import CanvasPicture

NOTE = "slide-note"  # the key of the sentence that stands in for pictures that cannot be drawn
SAID = "slide-said"  # the key of the words above the pictures of a slide
DRAWN = "pictures_drawn"
LEAD = "lead"


class Showing:
    """How the pictures of a page are shown: by default all of them, where the page draws them.

    A wing that shows them differently derives from this class and calls `show_by`.
    """

    def keys(self) -> set[str]:
        """Return the keys of the pictures to be shown; an empty set means all."""
        return set()

    def scene(self) -> Hashable:
        """Return a value that tells this slide from others of the same page; None off slides."""
        return None

    def is_live(self) -> bool:
        """Return whether clicks may lead to another page, as on a page but not on a slide."""
        return True

    def place(self, key: str) -> AbstractContextManager:
        """Return a context manager that puts the picture with this key in its place."""
        return nullcontext()

    def keeps(self, key: str, picture: Callable[[], CanvasPicture]) -> bool:
        """Return whether a picture is not drawn because it is being kept for a file."""
        return False

    def is_for_images(self) -> bool:
        """Return whether pictures are drawn only to put their images into a file."""
        return False

    def keeps_question(self, key: str, question: Question) -> bool:
        """Return whether a question about a picture is not asked but kept for a file."""
        return False

    def postpones(self, key: str, draw: Callable[[], object]) -> bool:
        """Return whether `draw` will be called later, when no question is open."""
        return False

    def as_file(
        self, page: str, parameters: Mapping[str, str], title: str, words: str, key: str
    ) -> dict[str, Any]:
        """Return the data from which a file opens a page's scene again."""
        return {"page": page, "parameters": dict(parameters), "picture": key}

    def as_shown(self, picture: CanvasPicture) -> CanvasPicture:
        """Return a picture with the options that apply where it is shown."""
        return picture


_in_force = [Showing()]


def showing() -> Showing:
    return _in_force[0]


def show_by(other: Showing) -> None:
    """Set how pictures are shown, on every page and in every session."""
    _in_force[0] = other


def is_wanted(*keys: str) -> bool:
    """Return whether a slide or link shows one of these pictures, so no button is needed."""
    return not showing().keys().isdisjoint(keys)


def place(key: str, of: object = None) -> AbstractContextManager:
    """Return a context manager that puts the picture with this key in its place.

    `drawn()[key]` then holds `of`, the subject of the picture.
    """
    drawn()[key] = of
    return showing().place(key)


def drawn() -> dict[str, Any]:
    """Return the subjects of the pictures drawn on this page so far, by key; see `place`."""
    return st.session_state.setdefault(DRAWN, {})


def begin() -> None:
    st.session_state[DRAWN] = {}
    st.session_state[LEAD] = ""


def say(sentence: str, key: str, *, where: str = "", numbers: str = "") -> None:
    """Draw the sentence that sums up the page, which becomes the title of a slide made from it.

    On the page, `where` comes before the sentence and `numbers` after it; the slide has neither.
    """
    entitle(sentence)
    with st.container(key=f"lead-{key}"):
        st.text(f"{where}{sentence} {numbers}".rstrip())


def entitle(sentence: str) -> None:
    """Set the title of a slide made from the page; a full stop at its end is dropped."""
    st.session_state[LEAD] = sentence[:1].upper() + sentence[1:].removesuffix(".")


def lead() -> str:
    return st.session_state.get(LEAD, "")
