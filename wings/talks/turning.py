"""Turn to slides: record which slide is shown, if any, and where the talk was started."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from headlight.pages.shared.state import edit_history
from headlight.pages.shared.state.page import PAGES, Page, shown

# The state's keys of the texts with forced tokens that a visitor made on the page Decoding.
MADE = ("branches", "node", "applied")
LIVE_TITLE = "live_title"  # the state's key of a title that says what the slide shows now
LIVE = -1  # in place of a slide's number: open the slide's page with its choices


@dataclass(frozen=True)
class Visit:
    """A slide from which its page was opened: its name, and its number at that time."""

    slide: str
    number: int
    touring: bool


@dataclass(frozen=True)
class Origin:
    """The page on which a talk was started, with the visitor's choices and changes at that time."""

    page: Page
    choices: dict[str, Any]  # by the choice's key, without those at their defaults
    histories: dict[str, list]  # the undo histories of the changes
    made: dict[str, Any]  # the values of the keys in `MADE`


def slide() -> int | None:
    """Return the number of the slide that is shown, from 1; None outside of a talk."""
    return st.session_state.get("slide")


def turn_to(number: int | None) -> None:
    """Request slide `number`, from 1, for `take_turn`; a callback.

    With `LIVE`, request the page of the present slide with its choices; with None, request to leave
    the talk. Only `take_turn` carries it out, because Streamlit may call callbacks of simultaneous
    clicks in the wrong order: a click on a slide would then change the page after the talk.
    """
    st.session_state.turning = number


def is_leaving() -> bool:
    return st.session_state.get("turning", slide()) is None and slide() is not None


def is_going_live() -> bool:
    return st.session_state.get("turning") == LIVE and slide() is not None


def visit() -> Visit | None:
    """Return the record of the slide from which the page was opened; None if there is none."""
    return st.session_state.get("visit")


def take_turn() -> None:
    """Turn to the requested slide, after all callbacks and before anything is drawn.

    A talk may be left twice: a browser that still shows a slide sends the slide's choices late.
    """
    if "turning" in st.session_state:
        number = st.session_state.turning
        turn(number)
        if number is None:
            st.session_state.left_for = begun_on()
        elif number == LIVE:
            st.session_state.setdefault("left_for", shown())
        del st.session_state.turning  # last: the next click may interrupt this run


def turn(number: int | None) -> None:
    """Show slide `number`, from 1; leave the talk if None; open the slide's page if `LIVE`.

    A slide applies its own choices. Leaving the talk restores the visitor's earlier choices;
    opening the page of a slide keeps the choices of the slide.
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
    """Show a slide of the same talk again after its page was opened from it."""
    st.session_state.coming_back = True
    turn_to(number)


def begin_here() -> None:
    """Record the current page and choices, to restore them when the visitor leaves the talk."""
    st.session_state.origin = _here()


def was_left() -> bool:
    return slide() is None and (begun_on() or visit()) is not None


def begun_on() -> Page | None:
    """Return the page on which the talk was started; None if there was no page before."""
    origin = st.session_state.get("origin")
    return origin and origin.page


def draw_anew() -> None:
    """Make the shown slide apply its own choices and title again."""
    for key in ("slide_drawn", LIVE_TITLE):
        st.session_state.pop(key, None)


def is_new() -> bool:
    """Return whether the shown slide has not yet applied its choices."""
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
