"""Where a picture stands: in its place on the page, or on a slide."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from collections.abc import Iterator

OFFSTAGE = "offstage"  # the key of what a slide does not show
STAGE = "stage"
DRAWN = "pictures_drawn"
NOTE = "slide-note"  # the key of a note that a slide shows beside its pictures


@contextmanager
def staged(pictures: Sequence[str]) -> Iterator[None]:
    """Have the pictures with these keys drawn on a slide, and hide all else that is drawn."""
    stage = st.container(key=STAGE, horizontal=True)
    places = {key: stage.container(key=f"on-{key}") for key in pictures}
    st.session_state[STAGE] = places
    try:
        with st.container(key=OFFSTAGE):
            yield
    finally:
        del st.session_state[STAGE]


def begin() -> None:
    """Begin a page on which nothing is drawn yet."""
    st.session_state[DRAWN] = set()


def drawn() -> set[str]:
    """Return the keys of all that was drawn since the page began."""
    return st.session_state.setdefault(DRAWN, set())


def place(key: str) -> AbstractContextManager:
    """Return where the picture with this key is to be drawn; use it in a `with` statement."""
    drawn().add(key)
    return st.session_state.get(STAGE, {}).get(key) or nullcontext()
