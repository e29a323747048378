"""How the pictures of a page are shown: where the page draws them, unless a wing moves them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:
    from headlight.pages.shared.show.riddle import Question
    from headlight.viz import CanvasPicture

NOTE = "slide-note"  # the key of a sentence that is drawn in place of pictures
SAID = "slide-said"  # the key of the words about the pictures of a slide, above them
DRAWN = "pictures_drawn"
LEAD = "lead"


class Showing:
    """How the pictures of a page are shown: by default all of them, where the page draws them.

    A wing that shows them differently derives from it and is put in force by `show_by`.
    """

    def keys(self) -> set[str]:
        """Return the keys of the only pictures to be shown; an empty set means all."""
        return set()

    def scene(self) -> Hashable:
        """Return what identifies this scene among the scenes of a page; None outside a slide."""
        return None

    def is_live(self) -> bool:
        """Return whether the visitor works here, so that a click may lead to another page."""
        return True

    def place(self, key: str) -> AbstractContextManager:
        """Return where the picture with this key is to be drawn."""
        return nullcontext()

    def keeps(self, key: str, picture: Callable[[], CanvasPicture]) -> bool:
        """Return whether a picture is kept instead of drawn."""
        return False

    def is_for_images(self) -> bool:
        """Return whether pictures are drawn only for a file to have images of them."""
        return False

    def keeps_question(self, key: str, question: Question) -> bool:
        """Return whether the question about a picture is kept instead of asked."""
        return False

    def postpones(self, key: str, draw: Callable[[], object]) -> bool:
        """Return whether `draw` is called later, when no question is open."""
        return False

    def as_file(
        self, page: str, parameters: Mapping[str, str], title: str, words: str, key: str
    ) -> dict[str, Any]:
        """Return the data with which a file can open a page's scene again."""
        return {"page": page, "parameters": dict(parameters), "picture": key}

    def as_shown(self, picture: CanvasPicture) -> CanvasPicture:
        """Return a picture with the options that apply here."""
        return picture


_in_force = [Showing()]


def showing() -> Showing:
    return _in_force[0]


def show_by(other: Showing) -> None:
    """Change the way in which pictures are shown, on every page and in every session."""
    _in_force[0] = other


def is_wanted(*keys: str) -> bool:
    """Return whether one of these pictures was requested, so that no button is needed."""
    return not showing().keys().isdisjoint(keys)


def place(key: str, of: object = None) -> AbstractContextManager:
    """Return where the picture with this key is to be drawn; use it in a `with` statement.

    `drawn()[key]` then holds `of`, the subject of the picture.
    """
    drawn()[key] = of
    return showing().place(key)


def drawn() -> dict[str, Any]:
    """Return the subjects drawn since the page began: what `place` was given, by key."""
    return st.session_state.setdefault(DRAWN, {})


def begin() -> None:
    st.session_state[DRAWN] = {}
    st.session_state[LEAD] = ""


def say(sentence: str, key: str, *, where: str = "", numbers: str = "") -> None:
    """Draw the sentence that sums up the page, which becomes the title of its slide.

    Only on the page does it say `where`, and have the `numbers`.
    """
    entitle(sentence)
    with st.container(key=f"lead-{key}"):
        st.text(f"{where}{sentence} {numbers}".rstrip())


def entitle(sentence: str) -> None:
    """Set the title of a slide made from the page, with or without a full stop."""
    st.session_state[LEAD] = sentence[:1].upper() + sentence[1:].removesuffix(".")


def lead() -> str:
    return st.session_state.get(LEAD, "")
