"""Turning to a slide: which one is shown, if any, and where the talk was begun."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from headlight.pages.shared.state import edit_history
from headlight.pages.shared.state.page import PAGES, Page, shown

# On the page Decoding: texts that begin with forced tokens, and when they were chosen.
MADE = ("branches", "node", "applied")
LIVE_TITLE = "live_title"  # the key of what the slide's scene says since the visitor changed it
LIVE = -1  # in place of a slide's number: the scene of the slide, on its page


@dataclass(frozen=True)
class Visit:
    """A slide whose scene is open on its page: its name, and its number where it was left."""

    slide: str
    number: int
    touring: bool


@dataclass(frozen=True)
class Origin:
    """A page, and what the visitor had chosen and changed when a talk was begun there."""

    page: Page
    choices: dict[str, Any]  # by key, without those at their defaults
    histories: dict[str, list]
    made: dict[str, Any]  # other values that pages keep, by key


def slide() -> int | None:
    """Return the number of the slide that is shown, from 1; None outside of a talk."""
    return st.session_state.get("slide")


def turn_to(number: int | None) -> None:
    """Have `take_turn` show a slide, from 1, open its scene live, or leave the talk; a callback.

    It does not happen at once: for clicks that come together, Streamlit may call the last one's
    callback first, and a click on a slide would then choose on the page that the talk was left for.
    """
    st.session_state.turning = number


def is_leaving() -> bool:
    return st.session_state.get("turning", slide()) is None and slide() is not None


def is_going_live() -> bool:
    return st.session_state.get("turning") == LIVE and slide() is not None


def visit() -> Visit | None:
    """Return what was noted of the slide whose scene is open live; None if none is."""
    return st.session_state.get("visit")


def take_turn() -> None:
    """Turn to what was asked for, after all callbacks and before anything is drawn.

    A talk that was left may be left again: messages of a browser that still shows a slide are late.
    """
    if "turning" in st.session_state:
        number = st.session_state.turning
        turn(number)
        if number is None:
            st.session_state.left_for = begun_on()
        elif number == LIVE:
            st.session_state.setdefault("left_for", shown())
        del st.session_state.turning  # last, because the next click may end the run anywhere before


def turn(number: int | None) -> None:
    """Show a slide, from 1, leave the talk, or keep the choices of the slide, as its scene, live.

    Slides put their own choices in force; those from before the talk come back when it is left,
    also after a scene was open live.
    """
    draw_anew()
    is_back = st.session_state.pop("coming_back", False)
    if number is None:
        _go_back()
    elif number != LIVE and slide() is None and not is_back:
        begin_here()
    if number != LIVE:
        st.session_state.pop("visit", None)
    st.session_state.slide = None if number == LIVE else number


def come_back(number: int) -> None:
    """Show a slide again whose scene was open live, in the talk that was begun before."""
    st.session_state.coming_back = True
    turn_to(number)


def begin_here() -> None:
    """Have the talk, when it is left, come back to the present page in its present state."""
    st.session_state.origin = _here()


def was_left() -> bool:
    return slide() is None and (begun_on() or visit()) is not None


def begun_on() -> Page | None:
    """Return the page to come back to; None as long as the session has shown only slides."""
    origin = st.session_state.get("origin")
    return origin and origin.page


def draw_anew() -> None:
    """Have the slide that is shown put its choices in force again, under its own title."""
    for key in ("slide_drawn", LIVE_TITLE):
        st.session_state.pop(key, None)


def is_new() -> bool:
    """Return whether the slide that is shown has not yet put its choices in force."""
    return st.session_state.get("slide_drawn") != slide()


def begin() -> None:
    """Note that the slide that is shown has put all of its choices in force."""
    st.session_state.slide_drawn = slide()


def _here() -> Origin | None:
    if shown() is None:
        return None
    state = st.session_state
    choices = {key: state[key] for key in _keys() if key in state}
    values = {key: state[key] for key in MADE if key in state}
    return Origin(shown(), choices, edit_history.copied(), values)


def _go_back() -> None:
    origin = st.session_state.get("origin")
    if origin is None:
        return
    for key in {*_keys(), *MADE} - origin.choices.keys():
        st.session_state.pop(key, None)
    st.session_state.update(origin.choices | origin.made)
    edit_history.put_back({key: list(history) for key, history in origin.histories.items()})


def _keys() -> set[str]:
    return {choice.key for page in PAGES.values() for choice in page.linked}
