"""Where a picture stands: in its place on the page, or on a slide."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

if TYPE_CHECKING:
    from collections.abc import Iterator

OFFSTAGE = "offstage"  # the key of what a slide does not show
STAGE = "stage"
DRAWN = "pictures_drawn"
KEPT = "pictures_kept"
NOTE = "slide-note"  # the key of a note that a slide shows beside its pictures
SAID = "slide-said"  # and of what it says of them, above them


@contextmanager
def staged(pictures: Sequence[str]) -> Iterator[None]:
    """Have the pictures with these keys drawn on a slide, and hide all else that is drawn."""
    places = {SAID: st.container(key=SAID)}
    stage = st.container(key=STAGE, horizontal=True)
    places |= {key: stage.container(key=f"on-{key}") for key in (NOTE, *pictures)}
    st.session_state[STAGE] = places
    try:
        with st.container(key=OFFSTAGE):
            yield
    finally:
        del st.session_state[STAGE]


def staged_keys() -> set[str]:
    """Return the keys of the pictures that the slide shows; none on a page."""
    return set(st.session_state.get(STAGE, {})) - {NOTE, SAID}


def begin() -> None:
    """Begin a page on which nothing is drawn yet.

    A slide that the next click cut short may have left its places behind: `staged` is cut short
    there too, wherever it reads or writes the session's state.
    """
    st.session_state.pop(STAGE, None)
    st.session_state.pop(KEPT, None)
    st.session_state[DRAWN] = {}


def drawn() -> dict[str, Any]:
    """Return what was drawn since the page began, by key: what `place` was told of it."""
    return st.session_state.setdefault(DRAWN, {})


class Kept(NamedTuple):
    """A picture kept for a file, and those that a click in it leads to, by what it answers."""

    picture: Any
    answers: Mapping[str, Any]


@contextmanager
def keeping() -> Iterator[dict[str, Any]]:
    """Have pictures, and the questions asked of them, kept for a file and not drawn; by key."""
    kept = st.session_state[KEPT] = {}
    try:
        yield kept
    finally:
        st.session_state.pop(KEPT, None)


def is_kept(key: str, picture: Callable[[], Any], answers: Callable[[], Mapping[str, Any]]) -> bool:
    """Return whether a picture is kept if the slide shows it, and not drawn; keep it then."""
    if KEPT not in st.session_state:
        return False
    if is_staged(key):
        st.session_state[KEPT][key] = Kept(picture(), answers())
    return True


def is_question_kept(key: str, question: Callable[[], tuple[Any, Sequence[str]]]) -> bool:
    """Return whether what is asked of a picture first is kept, and not asked now; keep it then.

    A question is what asks it, and what is said of no guess and of each one.
    """
    if KEPT not in st.session_state:
        return False
    if is_staged(key):
        st.session_state[KEPT][question_key(key)] = question()
    return True


def place(key: str, of: object = None) -> AbstractContextManager:
    """Return where the picture with this key is to be drawn; use it in a `with` statement.

    `of` is what the footer of a slide says of it; see `footer` in presenter.py.
    """
    drawn()[key] = of
    return st.session_state.get(STAGE, {}).get(key) or nullcontext()


def is_staged(key: str) -> bool:
    """Return whether a slide shows the picture with this key."""
    return key in st.session_state.get(STAGE, {})


def question_key(key: str) -> str:
    """Return the key of what asks a question in the place of the picture with a key."""
    return f"question-{key}"


def note_question(key: str, is_open: bool) -> None:
    """Note that a question is asked of a picture, and whether it is still open."""
    drawn()[question_key(key)] = is_open


def is_open(key: str) -> bool | None:
    """Return whether the question that is asked of a picture is open; None if none is asked."""
    return drawn().get(question_key(key))
