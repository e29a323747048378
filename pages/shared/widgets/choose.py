"""The one way to draw a choice, and the ones that every page has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from model.trace import Kind
from pages.shared.runs.readers import reader
from pages.shared.state.choice import Choice
from pages.shared.state.choices import HEAD, KIND, LAYER, SUMMARIES, Head, chosen, put
from pages.shared.state.page import shown

Widget = Callable[..., Any]
MOST_LAYERS = 6  # side by side, with their summaries, and a head and a picture beside them


def choose(
    choice: Choice,
    options: Iterable[Any] | None = None,
    *,
    widget: Widget | None = None,
    on_change: Callable[[], None] | None = None,
    **more: object,
) -> Any:
    """Draw the widget of a choice and return its value.

    The session and the link know it by its key. `options` are the values there are, if they
    depend on the model; a value that is not among them gives way to the nearest, as does a number
    beyond its bounds. `more` goes to the widget: by default a segmented control for options, a
    toggle for a switch, a number box or a text box.
    """
    offered, value = list(choice.options if options is None else options), chosen(choice)
    if offered:
        value = nearest(value, offered)
        note_offered(choice.key, offered, value)
        more = {"options": offered, "format_func": lambda value: words(choice, value), **more}
        if widget is st.selectbox and None in offered:
            more["placeholder"] = words(choice, None)  # Streamlit takes None for no choice at all
    widget = widget or (st.segmented_control if offered else box(choice))
    if widget is st.segmented_control:
        more = {"required": True, "wrap": True, **more}
    elif widget is st.text_input:
        more = {"max_chars": choice.bounds, **more}
    elif isinstance(choice.bounds, tuple):
        lowest, highest = choice.bounds
        more = {"min_value": lowest, "max_value": highest, "step": choice.step, **more}
        value = min(max(value, more["min_value"]), more["max_value"])
    more |= {"on_change": hear, "args": [choice.key, on_change]}
    more |= beginning(widget, value, offered)
    more = {"label": choice.label, "help": choice.help, **more}
    tell(choice, value)
    widget(key=choice.key, persist_state="session", **more)
    return chosen(choice)


def beginning(widget: Widget, value: object, options: Sequence[Any] = ()) -> dict[str, Any]:
    """Return what makes a widget begin with a value in a browser that has not got it yet.

    It may never get the run in which that was put in force: the next click cuts it off.
    """
    if widget is st.selectbox:
        return {"index": options.index(value) if value in options else None}
    if widget in (st.segmented_control, st.multiselect):
        return {"default": value}
    return {"value": value}


def tell(choice: Choice, value: object) -> None:
    """Put a value in force, unless it is known to be what the browser shows.

    Each time would be too often: while one box is typed into after the other, the run of the first
    would put back what was in the second.
    """
    known = st.session_state.setdefault("known_values", {})
    if known.get(choice.key) != (shown(), value):
        known[choice.key] = shown(), value
        put(choice, value)


def hear(key: str, then: Callable[[], None] | None) -> None:
    """Note that the browser has sent a value, `then` do what follows; a callback."""
    st.session_state.known_values[key] = shown(), st.session_state[key]
    if then:
        then()


@dataclass
class Offered:
    """The options of a choice that is drawn, the one chosen last, and those that keys passed."""

    options: list[Any]
    now: Any
    passed: set[Any]


def note_offered(key: str, options: list[Any], now: object) -> None:
    """Note the options of a choice for `step`, of which one is chosen."""
    noted = st.session_state.setdefault("offered", {})
    passed = noted[key].passed if key in noted and noted[key].now == now else set()
    noted[key] = Offered(options, now, passed)


def step(key: str, by: int) -> None:
    """Choose what was offered so many options after the chosen one, if there is one; a callback.

    Of two quick steps the second comes with the browser's value of before the first.
    """
    one = st.session_state.get("offered", {}).get(key)
    if one is None:
        return
    sent = st.session_state.get(key, one.now)
    if sent not in one.passed:
        one.now, one.passed = sent, set()
    place = one.options.index(one.now) + by if one.now in one.options else -1
    if 0 <= place < len(one.options):
        one.passed.add(one.now)
        one.now = one.options[place]
    st.session_state[key] = one.now


def box(choice: Choice) -> Widget:
    """Return the widget for a choice without options."""
    if isinstance(choice.default, bool):
        return st.toggle
    return st.number_input if isinstance(choice.bounds, tuple) else st.text_input


def words(choice: Choice, value: object) -> str:
    """Return a value as it is shown."""
    return choice.options.get(value) or choice.write(value)


def nearest(value: object, offered: Sequence[Any]) -> Any:
    """Return a value if it is offered, else the largest smaller number, or the first."""
    if value in offered:
        return value
    below = [one for one in offered if isinstance(one, int) and isinstance(value, int)]
    return max((one for one in below if one < value), default=offered[0])


@dataclass
class Drawn:
    """What an editor shows: a value, in the first widget that was drawn for it or a later one."""

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

    `changed` is called with the value that a person gave it. If the value was changed by
    something else, the widget is a new one: a browser sends the values of all widgets with every
    click, and a late one must not pass for a person's.
    """
    drawn = st.session_state.setdefault(f"{key} drawn", Drawn(value))
    if drawn.value != value:
        drawn.number += 1
        drawn.value = value
    number = drawn.number
    name = f"{key} {number}" if number else key

    def take() -> None:
        if drawn.number == number:  # else it comes late: there is a new widget already
            drawn.value = st.session_state[name]
            changed(drawn.value)

    more |= beginning(widget, value, list(more.get("options", ())))
    widget(label, key=name, on_change=take, **more)


def pick_one(
    label: str, options: Iterable[str], key: str, picked: Callable[[str], None], **more: object
) -> None:
    """Draw a menu of options, and call `picked` with the clicked one."""
    take = {"on_click": lambda: picked(st.session_state[key])}
    st.menu_button(label, list(options), key=key, **take, **more)


def choose_kind(choice: Choice = KIND, **more: object) -> Kind:
    """Draw the choice of a kind of attention that the chosen model has, and return it.

    It is not drawn if the model has one kind only.
    """
    kinds = list(reader().shape.kinds)
    if len(kinds) > 1:
        return choose(choice, kinds, **more)
    put(choice, kinds[0])
    return kinds[0]


def choose_layer(kind: Kind, summaries: bool = False) -> Head:
    """Draw the choice of a layer of a kind and return it, from 0, or the mean or maximum."""
    return choose_place(LAYER, reader().shape.layers(kind), summaries)


def choose_head(kind: Kind, summaries: bool = True) -> Head:
    """Draw the choice of a head of a kind and return it, from 0, or the heads' mean or maximum."""
    return choose_place(HEAD, reader().shape.heads(kind), summaries)


def choose_place(choice: Choice, count: int, summaries: bool) -> Head:
    """Draw the choice of one of so many layers or heads.

    Heads, and many layers, are in a box that drops down: a row has room for all choices of a head.
    """
    options = place_options(count) if summaries else list(range(count))
    boxed = choice is not LAYER or len(options) > MOST_LAYERS
    return choose(choice, options, **({"widget": st.selectbox, "width": 86} if boxed else {}))


def place_options(count: int) -> list[Head]:
    """Return what can be chosen as a head or layer: each from 0, then their mean and maximum."""
    return [*range(count), *SUMMARIES]


def choose_token(choice: Choice, tokens: Sequence[str], *, first: int = 1, width: int = 240) -> int:
    """Draw the choice of a token, shown as counted from `first`; return its place, from 0.

    Its box is `width` pixels wide.
    """
    return choose(
        choice,
        range(len(tokens)),
        widget=st.selectbox,
        format_func=lambda place: f"{place + first}: {tokens[place]}",
        width=width,
    )
