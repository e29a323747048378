"""Keeps outdated values that a browser sends from replacing newer values of widgets.

A browser sends the values of all widgets with every click. Some are outdated: the server has set a
new value since, which is still on its way, or was never sent because the click ended the run.

Upstream: https://github.com/streamlit/streamlit/issues/8365
Relies on: widgets, which take their first value from their arguments if the browser has none yet,
and from the session's state whenever that is written; `SessionState._call_callbacks`, which is
called with the values that the browser sent.
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
    """Return the arguments that make a widget show a value if the browser has none yet."""
    if widget is st.selectbox:
        return {"index": options.index(value) if value in options else None}
    if widget in (st.segmented_control, st.multiselect):
        return {"default": value}
    return {"value": value}


@dataclass
class Exchange:
    """The values of widgets that were sent to a browser, and those that it has sent."""

    # By widget's key: `where` (see `tell`), and the value that the browser is known to show.
    known: dict[str, tuple[Hashable, object]] = field(default_factory=dict)
    # By widget's key: the values sent to the browser since it last sent the current value.
    told: dict[str, list[object]] = field(default_factory=dict)
    # Keys of widgets in which an older value, on its way, may replace the visitor's newer choice.
    unsure: set[str] = field(default_factory=set)
    # By widget's id: a hash of the value that the browser last sent.
    sent: dict[str, int] = field(default_factory=dict)


def exchange() -> Exchange:
    return st.session_state.setdefault("told_and_sent", Exchange())


def tell(key: str, value: object, where: Hashable) -> None:
    """Set a widget's value, unless the browser is known to show it already.

    `where` is the page, and the value as a text. A value that the browser shows is not set again:
    if a visitor types into two boxes one after the other, the run for the first box would overwrite
    the second.
    """
    known = exchange().known
    if known.get(key) != (where, value):
        known[key] = where, value
        exchange().told.setdefault(key, []).append(value)
        st.session_state[key] = value


def hear(key: str, where: Hashable, *, is_typed: bool) -> None:
    """Record the value that the browser has sent for a widget; call it in callbacks.

    A value that was sent to the browser earlier may arrive there after the visitor's choice and
    replace it. In this case the choice is sent to the browser again. A typed text is sent again
    only if the browser also sent an outdated address, because the visitor may still be typing.
    """
    if key in exchange().unsure and (is_behind() or not is_typed):
        del exchange().known[key]
    else:
        exchange().known[key] = where, st.session_state[key]


def refuse(key: str) -> None:
    """Replace the value that the browser sent by the one drawn last; call it in callbacks."""
    exchange().known.pop(key, None)
    st.session_state[key] = st.session_state.offered[key].now


def pass_over_late_values() -> None:
    """Have Streamlit ignore the outdated values that a browser sends again."""
    replace(SessionState, "_call_callbacks", _call_without_late)


def _call_without_late(call: Callable[..., None], state: SessionState, **more: object) -> None:
    _pass_over_late(state, exchange())
    call(state, **more)


def _pass_over_late(state: SessionState, noted: Exchange) -> None:
    """Replace outdated values in the browser's request by the current ones, and send these again.

    If nothing else in the request is new, an earlier value is not outdated: the visitor has chosen
    it again.
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
        if not state._widget_changed(name):  # the browser shows the current value
            noted.told.pop(key, None)
            new.discard(name)
        elif name in new and state._new_widget_state.get(name) not in noted.told.get(key, [])[:-1]:
            noted.unsure.add(key)
        else:  # the browser repeats its last value, or one that it got before the current one
            new.discard(name)
            repeated[key] = name
    if new or any(map(_is_click, widgets)):
        for key, name in repeated.items():
            state._new_widget_state.set_from_value(name, state._old_state[name])
            del noted.known[key]
    else:
        noted.unsure |= repeated.keys()


def _compare_and_note(widgets: Iterable[WidgetState], sent: dict[str, int]) -> dict[str, bool]:
    """Record the values in a request; return, by widget's id, True for a value that has changed.

    Widgets for which the browser sent no value before are left out.
    """
    differs = {}
    for widget in widgets:
        if not _is_trigger(widget):
            value = hash(widget.SerializeToString())
            if widget.id in sent:
                differs[widget.id] = sent[widget.id] != value
            # Values of earlier requests are kept, because a step back or forward sends no values.
            sent[widget.id] = value
    return differs


def _is_trigger(widget: WidgetState) -> bool:
    return "trigger" in (widget.WhichOneof("value") or "")


def _is_click(widget: WidgetState) -> bool:
    name = widget.WhichOneof("value") or ""
    return "trigger" in name and bool(getattr(widget, name))


@dataclass
class Offered:
    """The options of a widget on the page, and the chosen one."""

    options: list[Any]
    now: Any


def note_offered(key: str, options: list[Any], now: object) -> None:
    """Record the options of a widget and the chosen one, for `step` and `refuse`."""
    st.session_state.setdefault("offered", {})[key] = Offered(options, now)


def step(key: str, by: int) -> None:
    """Choose the option `by` places after the chosen one, if there is one; call it in callbacks."""
    if key not in (all_offered := st.session_state.get("offered", {})):
        return
    options = all_offered[key].options
    now = st.session_state.get(key, all_offered[key].now)
    at = options.index(now) + by if now in options else -1
    if 0 <= at < len(options):
        st.session_state[key] = options[at]


@dataclass
class Drawn:
    """The value that an `editor` shows, and a number that is part of its widget's key."""

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
    """Draw a widget for a value that is stored elsewhere, such as an edit of the model.

    `changed` is called with the value that a visitor enters. If the value was changed in another
    way, a new widget is drawn, so that outdated values of the old one are ignored.
    """
    drawn = st.session_state.setdefault(f"{key} drawn", Drawn(value))
    if drawn.value != value:
        drawn.number += 1
        drawn.value = value
    number = drawn.number
    name = f"{key} {number}" if number else key

    def take() -> None:
        if drawn.number == number:  # otherwise a new widget was drawn: this value is outdated
            drawn.value = st.session_state[name]
            changed(drawn.value)

    more |= beginning(widget, value, list(more.get("options", ())))
    widget(label, key=name, on_change=take, **more)
