"""A widget shows the value in force, however late the browser's own value comes.

A browser sends the values of all widgets with every click, including outdated ones: the server has
told it another value since, which is still on its way or was never sent, because the next click
ended the run.

Upstream: https://github.com/streamlit/streamlit/issues/8365
Relies on: a widget taking its first value from its arguments in a browser that has none yet, and
from the session's state whenever that is written; `SessionState._call_callbacks`, which is run with
the values that the browser sent.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.session_state import SessionState

from headlight.pages.streamlit_fixes.late_address import is_behind
from headlight.pages.streamlit_fixes.replace import replace

Widget = Callable[..., Any]


def beginning(widget: Widget, value: object, options: Sequence[Any] = ()) -> dict[str, Any]:
    """Return the arguments with which a widget begins with a value in a new browser."""
    if widget is st.selectbox:
        return {"index": options.index(value) if value in options else None}
    if widget in (st.segmented_control, st.multiselect):
        return {"default": value}
    return {"value": value}


@dataclass
class Exchange:
    """What a browser was told and what it sent; widgets go by their keys, in `sent` by their ids.

    `known` holds the place and the value that the browser shows. `told` holds the values it was
    told since it last sent the value in force; one of them may replace a newer choice in the
    browser, in widgets listed in `unsure`. `sent` holds hashes of the last values it sent.
    """

    known: dict[str, tuple[Hashable, object]] = field(default_factory=dict)
    told: dict[str, list[object]] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)
    sent: dict[str, int] = field(default_factory=dict)


def exchange() -> Exchange:
    return st.session_state.setdefault("told_and_sent", Exchange())


def tell(key: str, value: object, where: Hashable) -> None:
    """Put a value in force, unless it is known to be what the browser shows there.

    `where` is the page, and the text that the value has on it.

    Always doing so would be wrong: if a visitor types into one box after another, the run of the
    first would overwrite the second.
    """
    known = exchange().known
    if known.get(key) != (where, value):
        known[key] = where, value
        exchange().told.setdefault(key, []).append(value)
        st.session_state[key] = value


def hear(key: str, where: Hashable, *, is_typed: bool) -> None:
    """Note that the browser has sent a value; for a callback.

    A value told before may reach the browser after the choice and replace it there, so the choice
    is told, too. What is typed is told only if the browser is known to be behind, since the visitor
    may be typing on.
    """
    if key in exchange().unsure and (is_behind() or not is_typed):
        del exchange().known[key]
    else:
        exchange().known[key] = where, st.session_state[key]


def refuse(key: str) -> None:
    """Put back the option that was drawn last in place of what the browser sent; for a callback."""
    exchange().known.pop(key, None)
    st.session_state[key] = st.session_state.offered[key].now


def pass_over_late_values() -> None:
    """Have Streamlit ignore values that a browser repeats because it shows an outdated value."""
    replace(SessionState, "_call_callbacks", _call_without_late)


def _call_without_late(call: Callable[..., None], state: SessionState, **more: object) -> None:
    _pass_over_late(state, exchange())
    call(state, **more)


def _pass_over_late(state: SessionState, noted: Exchange) -> None:
    """Put back what the browser merely repeats, and have it told again.

    If nothing else in its request is new, the visitor has chosen again what was there before.
    """
    states = state._current_interaction_widget_states
    widgets = states.widgets if states else ()
    differs = _compare_and_note(widgets, noted.sent)
    new = {name for name in differs if differs[name]}
    noted.unsure.clear()
    repeated = {}
    for key, (_, value) in noted.known.items():
        name = state._key_id_mapper.get_id_from_key(key)
        if name not in differs or name not in state._old_state:
            continue
        if key not in noted.told and state._old_state[name] == value:
            continue
        if not state._widget_changed(name):  # the browser has got what it was told
            noted.told.pop(key, None)
            new.discard(name)
        elif name in new and state._new_widget_state.get(name) not in noted.told.get(key, [])[:-1]:
            noted.unsure.add(key)
        else:  # what it showed before, or what it was told before the value in force
            new.discard(name)
            repeated[key] = name
    if new or any(map(_is_click, widgets)):
        for key, name in repeated.items():
            state._new_widget_state.set_from_value(name, state._old_state[name])
            del noted.known[key]
    else:
        noted.unsure |= repeated.keys()


def _compare_and_note(widgets: Iterable[WidgetState], sent: dict[str, int]) -> dict[str, bool]:
    """Note the values of a request; return by ids whether they differ from what was sent before.

    Widgets that have not sent anything before are left out.
    """
    differs = {}
    for widget in widgets:
        if not _is_trigger(widget):
            value = hash(widget.SerializeToString())
            if widget.id in sent:
                differs[widget.id] = sent[widget.id] != value
            sent[widget.id] = value  # it stays: a step back or forward sends no values
    return differs


def _is_trigger(widget: WidgetState) -> bool:
    return "trigger" in (widget.WhichOneof("value") or "")


def _is_click(widget: WidgetState) -> bool:
    name = widget.WhichOneof("value") or ""
    return "trigger" in name and bool(getattr(widget, name))


@dataclass
class Offered:
    """The options of a drawn widget, and the one chosen."""

    options: list[Any]
    now: Any


def note_offered(key: str, options: list[Any], now: object) -> None:
    """Note the options of a widget for `step`, and which one is chosen."""
    st.session_state.setdefault("offered", {})[key] = Offered(options, now)


def step(key: str, by: int) -> None:
    """Choose the option `by` steps after the chosen one, if there is one; a callback."""
    if key not in (all_offered := st.session_state.get("offered", {})):
        return
    options = all_offered[key].options
    now = st.session_state.get(key, all_offered[key].now)
    at = options.index(now) + by if now in options else -1
    if 0 <= at < len(options):
        st.session_state[key] = options[at]


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
    **more: Any,
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
