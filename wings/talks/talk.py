"""Keep the talk of a session: the visitor's own slides, or a ready talk that comes with the app."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import streamlit as st

from headlight.pages.shared.state.choice import one_of
from headlight.pages.shared.state.choices import chosen, put
from headlight.wings.talks.slides import LARGEST_FILE, MOST_SLIDES, Slide, write_talk
from headlight.wings.talks.turning import turn_to

TALKS = Path(__file__).with_name("ready")
READY = one_of(
    "ready_talk",
    {"attention": "What a Transformer looks at", "five_minutes": "A Transformer in five minutes"},
    label="Ready talk",
)
OWN = "own"  # names the visitor's own talk in addresses, in place of a ready talk
TOURING = "touring"  # the state's key: True to show a ready talk although the visitor has one
LONGEST = 50  # the most changes that can be undone
SHOWN_LAST = "slide_shown_last"  # the state's key of the name of the slide that was shown last
TOO_LARGE = f"Not added: a talk has at most {MOST_SLIDES} slides and {LARGEST_FILE // 1000} kB."


@cache
def shipped(name: str = READY.default) -> tuple[Slide, ...]:
    return read((TALKS / f"{name}.json").read_bytes())[0]


def read(data: bytes, kept: bool = False) -> tuple[tuple[Slide, ...], tuple[str, ...]]:
    """Return the result of `read_talk`; its module is imported when the first talk is read."""
    from headlight.wings.talks.talk_file import read_talk  # importing pydantic takes long

    return read_talk(data, kept)


def take_ready(name: str | None) -> None:
    """Choose the ready talk that an address names, or the first one if there is no such talk."""
    put(READY, name if name in READY.options else READY.default)


def is_awaited() -> bool:
    """Return whether the address names the visitor's own talk, but the browser has not sent it."""
    return st.query_params.get(READY.key) == OWN and not own()


def take_tour() -> None:
    """Present the ready talk, even if the visitor has a talk; a callback."""
    st.session_state[TOURING] = True
    turn_to(1)


def is_touring() -> bool:
    return st.session_state.get(TOURING, False)


def named_ready() -> dict[str, str]:
    """Return the parameter that names the talk in a slide's address, and its value.

    Empty for the first ready talk, unless the visitor also has a talk.
    """
    name = OWN if in_force() is own() else chosen(READY)
    return {} if name == READY.default and not own() else {READY.key: name}


def own() -> tuple[Slide, ...]:
    return st.session_state.get("talk", ())


def in_force() -> tuple[Slide, ...]:
    return (not is_touring() and own()) or shipped(chosen(READY))


def number_of(name: str | None) -> int | None:
    """Return the number, from 1, of a slide in the current talk; None if the talk lacks it."""
    names = [slide.name for slide in in_force()]
    return names.index(name) + 1 if name in names else None


def goes_on_at() -> int | None:
    """Return the number of the slide that was shown last; None if none was or it is the first."""
    number = number_of(st.session_state.get(SHOWN_LAST))
    return number if number != 1 else None


def change(slides: tuple[Slide, ...]) -> None:
    """Replace the visitor's own slides; with no slides, the ready talk is shown again."""
    earlier = st.session_state.setdefault("earlier_talks", [])
    if slides != own():
        earlier.append(own())
        del earlier[:-LONGEST]
    st.session_state.talk = slides[:MOST_SLIDES]


def can_undo() -> bool:
    return bool(st.session_state.get("earlier_talks"))


def before() -> tuple[Slide, ...]:
    return st.session_state.earlier_talks[-1] if can_undo() else ()


def undo() -> None:
    if can_undo():
        st.session_state.talk = st.session_state.earlier_talks.pop()


def add(slide: Slide, index: int | None = None) -> bool:
    """Insert a slide at an index, or at the end; if the talk is full, say so and return False."""
    slides = list(own())
    slides.insert(len(slides) if index is None else index, slide)
    if len(slides) > MOST_SLIDES or len(write_talk(slides).encode()) > LARGEST_FILE:
        st.toast(TOO_LARGE)
        return False
    change(tuple(slides))
    return True


def rearrange(order: Sequence[int]) -> None:
    change(tuple(own()[index] for index in order))


def put_at(index: int, slide: Slide) -> None:
    slides = list(own())
    slides[index] = slide
    change(tuple(slides))


def index_of(name: str | None) -> int | None:
    """Return the index of the visitor's own slide with this name; None if there is none."""
    return next((index for index, slide in enumerate(own()) if slide.name == name), None)
