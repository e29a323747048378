"""What of a long page is in sight: a tab of it, a list to go by, what a click has opened."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.browser.parts import contents, reveal
from pages.shared.show.pictures import css_class, show
from pages.shared.show.stage import staged_keys
from pages.shared.state.choice import Choice
from pages.shared.widgets.choose import choose

SOUGHT = "sought"  # the key of what was opened, until it is drawn


def tabs(
    choice: Choice,
    sections: Mapping[str, Callable[[], None]],
    pictures: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> None:
    """Offer sections by the keys of a choice's options, and draw the chosen one alone.

    On a slide the sections are drawn that hold its pictures: `pictures` are their keys by section.
    """
    tab = choose(choice, sections, label_visibility="collapsed")
    asked = staged_keys()
    held = [name for name, keys in pictures.items() if not asked.isdisjoint(keys)]
    for name in held or [tab]:
        sections[name]()


def parts(names: Sequence[str], bar: DeltaGenerator | None = None) -> list[DeltaGenerator]:
    """Draw the list of a long page's parts, and return the place of each, in order.

    The list stays in sight while the page scrolls, in the `bar` if there is one, and leads to them.
    """
    keys = [f"part-{number}" for number, _ in enumerate(names, start=1)]
    entries = {name: css_class(key) for name, key in zip(names, keys, strict=True)}
    with bar or st.container(key="contents-bar"):
        show(contents(entries), "contents")
    return [st.container(key=key) for key in keys]


def seek(key: str) -> None:
    """Have the container with this key scrolled into sight when it is drawn next; a callback."""
    st.session_state[SOUGHT] = key


def reveal_if_sought(key: str) -> None:
    """Scroll the container with this key into sight if it was sought; draw this within it."""
    if st.session_state.get(SOUGHT) == key:
        del st.session_state[SOUGHT]
        number = st.session_state["times_sought"] = st.session_state.get("times_sought", 0) + 1
        show(reveal(css_class(key), number), f"reveal-{key}")
