"""A widget shows the value in force, however late the browser's own value comes.

A browser sends the values of all widgets with every click, including outdated ones. And a run that
puts a value into a widget may be ended by the next click, before the browser gets the value.

Upstream: https://github.com/streamlit/streamlit/issues/8365
Relies on: a widget taking its first value from its arguments in a browser that has none yet, and
from the session's state whenever that is written.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

Widget = Callable[..., Any]


def beginning(widget: Widget, value: object, options: Sequence[Any] = ()) -> dict[str, Any]:
    """Return the arguments with which a widget begins with a value in a new browser."""
    if widget is st.selectbox:
        return {"index": options.index(value) if value in options else None}
    if widget in (st.segmented_control, st.multiselect):
        return {"default": value}
    return {"value": value}


def tell(key: str, value: object, where: Hashable) -> None:
    """Put a value in force, unless it is known to be what the browser shows there.

    `where` is the page, and the text that the value has on it.

    Always doing so would be wrong: if a visitor types into one box after another, the run of the
    first would overwrite the second.
    """
    known = st.session_state.setdefault("known_values", {})
    if known.get(key) != (where, value):
        known[key] = where, value
        st.session_state[key] = value


def hear(key: str, where: Hashable) -> None:
    """Note that the browser has sent a value; for a callback."""
    st.session_state.known_values[key] = where, st.session_state[key]


@dataclass
class Offered:
    """The options of a drawn widget, the one chosen last, and those that keys passed."""

    options: list[Any]
    now: Any
    passed: set[Any]


def note_offered(key: str, options: list[Any], now: object) -> None:
    """Note the options of a widget for `step`, and which one is chosen."""
    noted = st.session_state.setdefault("offered", {})
    passed = noted[key].passed if key in noted and noted[key].now == now else set()
    noted[key] = Offered(options, now, passed)


def step(key: str, by: int) -> None:
    """Choose the option `by` steps after the chosen one, if there is one; a callback.

    If two steps come quickly, the second still carries the browser's old value.
    """
    offered = st.session_state.get("offered", {}).get(key)
    if offered is None:
        return
    sent = st.session_state.get(key, offered.now)
    if sent not in offered.passed:
        offered.now, offered.passed = sent, set()
    at = offered.options.index(offered.now) + by if offered.now in offered.options else -1
    if 0 <= at < len(offered.options):
        offered.passed.add(offered.now)
        offered.now = offered.options[at]
    st.session_state[key] = offered.now


@dataclass
class Drawn:
    """What an editor shows: a value, and the number of the widget that was drawn for it."""

    value: object
    number: int = 0


def editor(
    widget: Widget,
    label: str,
    value: object,
    changed: Callable[[Any], None],
    key: str,
    **more: object,
) -> None:
    """Draw a widget for a value that is kept elsewhere, such as an edit of the model.

    `changed` is called with the value that a visitor entered. If something else changed the value,
    the widget is a new one, so that a late value of the old one is not taken for the visitor's.
    """
    drawn = st.session_state.setdefault(f"{key} drawn", Drawn(value))
    if drawn.value != value:
        drawn.number += 1
        drawn.value = value
    number = drawn.number
    name = f"{key} {number}" if number else key

    def take() -> None:
        if drawn.number == number:  # otherwise it is late: there is a new widget already
            drawn.value = st.session_state[name]
            changed(drawn.value)

    more |= beginning(widget, value, list(more.get("options", ())))
    widget(label, key=name, on_change=take, **more)
