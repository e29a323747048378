"""What helps a visitor on a long page: tabs, a list of its sections, and scrolling to a part."""

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from headlight.pages.browser.parts import contents, reveal
from headlight.pages.shared.show.pictures import css_class, show
from headlight.pages.shared.state.choice import Choice
from headlight.pages.shared.state.showing import is_wanted
from headlight.pages.shared.widgets.choose import choose

SOUGHT = "sought"  # holds the key of the container to scroll to, until that is drawn


def tabs(
    choice: Choice,
    sections: Mapping[str, Callable[[], None]],
    pictures: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> None:
    """Draw the choice of a section, and only the chosen section.

    `sections` has, for each option of the choice, a function that draws the section. `pictures` has
    the keys of the pictures in a section: if a slide shows some of them, their sections are drawn
    instead of the chosen one.
    """
    tab = choose(choice, sections, label_visibility="collapsed")
    wanted = [name for name, keys in pictures.items() if is_wanted(*keys)]
    for name in wanted or [tab]:
        sections[name]()


def parts(names: Sequence[str], bar: DeltaGenerator | None = None) -> list[DeltaGenerator]:
    """Draw a list of the sections of a long page; return a container for each section, in order.

    The list stays visible while the page scrolls; if a container `bar` is given, it is drawn there.
    A click on an entry scrolls to its section.
    """
    keys = [f"part-{number}" for number, _ in enumerate(names, start=1)]
    entries = {name: css_class(key) for name, key in zip(names, keys, strict=True)}
    with bar or st.container(key="contents-bar"):
        show(contents(entries), "contents")
    return [st.container(key=key) for key in keys]


def seek(key: str) -> None:
    """Let the page scroll to the container with this key when that is drawn next; a callback."""
    st.session_state[SOUGHT] = key


def reveal_if_sought(key: str, *, by: str = "") -> None:
    """Scroll to the container with this key if `seek` was called with the key.

    If `by` is given, `seek` must have been called with `by` instead. Call this inside the
    container.
    """
    if st.session_state.get(SOUGHT) == (by or key):
        del st.session_state[SOUGHT]
        number = st.session_state["times_sought"] = st.session_state.get("times_sought", 0) + 1
        show(reveal(css_class(key), number), f"reveal-{key}")


def mark_if_sought(key: str) -> None:
    """If `seek` was called with this key, draw an empty container here, and scroll to it."""
    if st.session_state.get(SOUGHT) == key:
        with st.container(key=key):
            reveal_if_sought(key)
