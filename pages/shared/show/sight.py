"""Finding the way on a long page: tabs, a list of its sections, and scrolling to a part."""

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from headlight.pages.browser.parts import contents, reveal
from headlight.pages.shared.show.pictures import css_class, show
from headlight.pages.shared.state.choice import Choice
from headlight.pages.shared.state.showing import is_wanted
from headlight.pages.shared.widgets.choose import choose

SOUGHT = "sought"  # the key of the container to scroll to, until it is drawn


def tabs(
    choice: Choice,
    sections: Mapping[str, Callable[[], None]],
    pictures: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> None:
    """Draw the choice of one of the `sections`, and only the chosen section.

    `sections` are by the options of the choice. If a slide shows some pictures, the sections that
    have them are drawn instead; `pictures` has the keys of each section's pictures.
    """
    tab = choose(choice, sections, label_visibility="collapsed")
    wanted = [name for name, keys in pictures.items() if is_wanted(*keys)]
    for name in wanted or [tab]:
        sections[name]()


def parts(names: Sequence[str], bar: DeltaGenerator | None = None) -> list[DeltaGenerator]:
    """Draw a list of a long page's sections, and return a container for each section, in order.

    The list is in the `bar`, if given, and stays visible while the page scrolls. A click on an
    entry scrolls to its section.
    """
    keys = [f"part-{number}" for number, _ in enumerate(names, start=1)]
    entries = {name: css_class(key) for name, key in zip(names, keys, strict=True)}
    with bar or st.container(key="contents-bar"):
        show(contents(entries), "contents")
    return [st.container(key=key) for key in keys]


def seek(key: str) -> None:
    """Scroll to the container with this key when it is drawn next; a callback."""
    st.session_state[SOUGHT] = key


def reveal_if_sought(key: str, *, by: str = "") -> None:
    """Scroll to the container with this key if `seek` was called with it, or with the key `by`.

    Call this within that container.
    """
    if st.session_state.get(SOUGHT) == (by or key):
        del st.session_state[SOUGHT]
        number = st.session_state["times_sought"] = st.session_state.get("times_sought", 0) + 1
        show(reveal(css_class(key), number), f"reveal-{key}")


def mark_if_sought(key: str) -> None:
    """If `seek` was called with this key, draw a container with it here, and scroll to it."""
    if st.session_state.get(SOUGHT) == key:
        with st.container(key=key):
            reveal_if_sought(key)
