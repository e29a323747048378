"""Turning to a slide: which one is shown, if any, and where the talk was started."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from headlight.pages.shared.state import edit_history
from headlight.pages.shared.state.page import PAGES, Page, shown

# On the page Decoding: texts that begin with forced tokens, and when they were chosen.
MADE = ("branches", "node", "applied")
LIVE_TITLE = "live_title"  # the key of the summary of a slide's scene since the visitor changed it
LIVE = -1  # in place of a slide's number: the scene of the slide, on its page


@dataclass(frozen=True)
class Visit:
    """A slide whose scene is open on its page: its name, and its number where it was left."""

    slide: str
    number: int
    touring: bool


@dataclass(frozen=True)
class Origin:
    """A page, and the visitor's choices and changes there, when a talk was started."""

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
    """Return the record of the slide whose scene is open live; None if none is."""
    return st.session_state.get("visit")


def take_turn() -> None:
    """Turn to the requested slide, after all callbacks and before anything is drawn.

    A talk may be left twice: messages of a browser that still shows a slide come late.
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

    Slides apply their own choices; the earlier ones return when the talk is left, also after a
    scene was open live.
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
    """Show a slide again whose scene was open live, in the talk that was started before."""
    st.session_state.coming_back = True
    turn_to(number)


def begin_here() -> None:
    """Make the talk return to the current page in its current state when it is left."""
    st.session_state.origin = _here()


def was_left() -> bool:
    return slide() is None and (begun_on() or visit()) is not None


def begun_on() -> Page | None:
    """Return the page to come back to; None as long as the session has shown only slides."""
    origin = st.session_state.get("origin")
    return origin and origin.page


def draw_anew() -> None:
    """Make the shown slide apply its choices again, under its own title."""
    for key in ("slide_drawn", LIVE_TITLE):
        st.session_state.pop(key, None)


def is_new() -> bool:
    """Return whether the shown slide has yet to apply its choices."""
    return st.session_state.get("slide_drawn") != slide()


def begin() -> None:
    """Record that the shown slide has applied all of its choices."""
    st.session_state.slide_drawn = slide()


def _here() -> Origin | None:
    if "page" not in st.session_state:
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
