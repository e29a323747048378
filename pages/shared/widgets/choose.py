"""The one way to draw a choice, and the ones that every page has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from model.trace import Kind
from pages.shared.runs.readers import reader
from pages.shared.state.choice import Choice
from pages.shared.state.choices import HEAD, KIND, LAYER, SUMMARIES, Head, chosen, put

Widget = Callable[..., Any]
MOST_SIDE_BY_SIDE = 11  # layers or heads


def choose(
    choice: Choice,
    options: Iterable[Any] | None = None,
    *,
    widget: Widget | None = None,
    **more: object,
) -> Any:
    """Draw the widget of a choice and return its value.

    The session and the link know it by its key. `options` are the values there are, if they
    depend on the model; a value that is not among them gives way to the nearest, as does a number
    beyond its bounds. `more` goes to the widget: by default a segmented control for options, a
    toggle for a switch, a number box or a text box.
    """
    offered = list(choice.options if options is None else options)
    if offered:
        put(choice, nearest(chosen(choice), offered))
        more = {"options": offered, "format_func": lambda value: words(choice, value), **more}
        if widget is st.selectbox and None in offered:
            more["placeholder"] = words(choice, None)  # Streamlit takes None for no choice at all
    else:
        put(choice, chosen(choice))
    widget = widget or (st.segmented_control if offered else box(choice))
    if widget is st.segmented_control:
        more = {"required": True, "wrap": True, **more}
    elif widget is st.text_input:
        more = {"max_chars": choice.bounds, **more}
    elif isinstance(choice.bounds, tuple):
        lowest, highest = choice.bounds
        more = {"min_value": lowest, "max_value": highest, "step": choice.step, **more}
        put(choice, min(max(chosen(choice), more["min_value"]), more["max_value"]))
    more = {"label": choice.label, "help": choice.help, **more}
    widget(key=choice.key, persist_state="session", **more)
    return chosen(choice)


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

    # Each time: a browser that never got a run that was cut off would show and send the default.
    st.session_state[name] = value
    widget(label, key=name, on_change=take, **more)


def tabs(choice: Choice, sections: Mapping[str, Callable[[], None]]) -> None:
    """Offer sections by the keys of a choice's options, and draw the chosen one alone."""
    sections[choose(choice, sections, label_visibility="collapsed")]()


def pick_one(
    label: str, options: Iterable[str], key: str, picked: Callable[[str], None], **more: object
) -> None:
    """Draw options as pills, and call `picked` with a clicked one, which can be clicked again."""

    def take() -> None:
        if (option := st.session_state[key]) is not None:
            st.session_state[key] = None
            picked(option)

    st.pills(label, options, key=key, on_change=take, label_visibility="collapsed", **more)


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
    """Draw the choice of one of so many layers or heads; many are in a box that drops down."""
    options = place_options(count) if summaries else list(range(count))
    many = {"widget": st.selectbox, "width": 110} if len(options) > MOST_SIDE_BY_SIDE else {}
    return choose(choice, options, **many)


def place_options(count: int) -> list[Head]:
    """Return what can be chosen as a head or layer: each from 0, then their mean and maximum."""
    return [*range(count), *SUMMARIES]


def choose_token(choice: Choice, tokens: Sequence[str], *, first: int = 1) -> int:
    """Draw the choice of a token, shown as counted from `first`; return its place, from 0."""
    return choose(
        choice,
        range(len(tokens)),
        widget=st.selectbox,
        format_func=lambda place: f"{place + first}: {tokens[place]}",
        width=240,
    )
