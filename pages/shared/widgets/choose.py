"""Draw the widgets of choices: of any choice, and of layers, heads and tokens."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import streamlit as st

from headlight.model.transformer.trace import Kind
from headlight.pages.shared.runs.readers import reader
from headlight.pages.shared.state.choice import Choice
from headlight.pages.shared.state.choices import (
    HEAD,
    KIND,
    LAYER,
    SUMMARIES,
    HeadChoice,
    chosen,
    put,
)
from headlight.pages.shared.state.wings import CLICKS, allows
from headlight.pages.streamlit_fixes.late_values import (
    Widget,
    beginning,
    hear,
    note_offered,
    refuse,
    tell,
)

MOST_LAYERS = 6  # more layers than this are in a drop-down box, not in a row of buttons


def choose(
    choice: Choice,
    options: Iterable[Any] | None = None,
    *,
    widget: Widget | None = None,
    on_change: Callable[[], None] | None = None,
    **more: Any,
) -> Any:
    """Draw the widget of a choice and return its value.

    The session and the link store the value under the choice's key. `options` are the possible
    values if they depend on the model. A value that is not among them, or a number beyond its
    bounds, is replaced by the nearest possible value. By default the widget is a segmented control
    for options, a toggle for a switch, a number box or a text box. `more` are arguments for it.
    """
    offered, value = list(choice.options if options is None else options), chosen(choice)
    if offered:
        value = nearest(value, offered)
        note_offered(choice.key, offered, value)
        more = {"options": offered, "format_func": lambda value: words(choice, value), **more}
        if widget is st.selectbox and None in offered:
            more["placeholder"] = words(choice, None)  # Streamlit shows this for a value of None
    widget = widget or (st.segmented_control if offered else box(choice))
    if widget is st.segmented_control:
        more = {"required": True, "wrap": True, **more}
    elif widget is st.text_input:
        more = {"max_chars": choice.bounds, **more}
    elif isinstance(choice.bounds, tuple):
        lowest, highest = choice.bounds
        more = {"min_value": lowest, "max_value": highest, "step": choice.step, **more}
        value = min(max(value, more["min_value"]), more["max_value"])
    text = more.get("format_func", str)  # words on screen; they may change while the value stays
    listed = [] if more.get("accept_new_options") else offered
    is_typed = widget is st.text_input
    more |= {"on_change": hear_and, "args": [choice.key, text, listed, is_typed, on_change]}
    more |= beginning(widget, value, offered)
    more = {"label": choice.label, "help": choice.help, **more}
    tell(choice.key, value, (st.session_state.get("page"), text(value)))
    widget(key=choice.key, persist_state="session", **more)
    return chosen(choice)


def hear_and(
    key: str,
    text: Callable[[Any], str],
    options: Sequence[Any],
    is_typed: bool,
    then: Callable[[], None] | None,
) -> None:
    """Store a value that the browser has sent, then call `then`; a callback.

    A value that is not in `options` is refused: the browser still showed an earlier list.
    """
    if options and st.session_state[key] not in options:
        refuse(key)
        return
    hear(key, (st.session_state.get("page"), text(st.session_state[key])), is_typed=is_typed)
    if then:
        then()


def box(choice: Choice) -> Widget:
    if isinstance(choice.default, bool):
        return st.toggle
    return st.number_input if isinstance(choice.bounds, tuple) else st.text_input


def words(choice: Choice, value: object) -> str:
    return choice.options.get(value) or choice.write(value)


def nearest(value: object, offered: Sequence[Any]) -> Any:
    """Return the value if it is offered, else the largest smaller number, else the first option."""
    if value in offered:
        return value
    numbers = [option for option in offered if isinstance(option, int)]
    below = [option for option in numbers if isinstance(value, int) and option < value]
    return max(below, default=offered[0])


def pick_one(
    label: str, options: Iterable[str], key: str, picked: Callable[[str], None], **more: Any
) -> None:
    st.menu_button(
        label, list(options), key=key, on_click=lambda: picked(st.session_state[key]), **more
    )


def choose_kind(choice: Choice = KIND, **more: Any) -> Kind:
    """Draw the choice of a kind of attention of the chosen model, and return the kind.

    Nothing is drawn if the model has only one kind of attention.
    """
    kinds = list(reader().shape.kinds)
    if len(kinds) > 1:
        return choose(choice, kinds, **more)
    put(choice, kinds[0])
    return kinds[0]


def choose_layer(kind: Kind) -> int:
    """Draw the choice of a layer of a kind of attention, and return its number from 0."""
    return choose_place(LAYER, range(reader().shape.layers(kind)))


def choose_layer_or_summary(kind: Kind) -> HeadChoice:
    """Draw the choice of a layer; return its number from 0, or `mean` or `max` of all layers."""
    return choose_place(LAYER, place_options(reader().shape.layers(kind)))


def choose_head(kind: Kind) -> int:
    """Draw the choice of a head of a kind of attention, and return its number from 0."""
    return choose_place(HEAD, range(reader().shape.heads(kind)))


def choose_head_or_summary(kind: Kind) -> HeadChoice:
    """Draw the choice of a head; return its number from 0, or `mean` or `max` of all heads."""
    return choose_place(HEAD, place_options(reader().shape.heads(kind)))


def choose_place(choice: Choice, options: Sequence[HeadChoice]) -> Any:
    """Draw the choice of a layer or a head, and return it.

    Heads, many layers, and layers together with “mean” and “max” are in a drop-down box. So the
    choices of layer, head and picture have room in one row.
    """
    boxed = choice is not LAYER or len(options) > MOST_LAYERS or SUMMARIES[0] in options
    return choose(choice, options, **({"widget": st.selectbox, "width": 86} if boxed else {}))


def offer_head(words: str, see: Callable[[], None] | None) -> None:
    """Draw words about a head, with a button that calls `see` to choose the head.

    If `see` is None, there is no button.
    """
    with st.container(horizontal=True, vertical_alignment="center", key="clearest-head"):
        st.text(words, width="content")
        if see and allows(CLICKS):
            st.button("See that head", type="tertiary", key="see-head", on_click=see)


def place_options(count: int) -> list[HeadChoice]:
    """Return the options for `count` heads or layers: numbers from 0, then “mean” and “max”."""
    return [*range(count), *SUMMARIES]


def choose_token(
    choice: Choice, tokens: Sequence[str], *, first: int = 1, width: int = 240, **more: Any
) -> int:
    """Draw the choice of a token; return the token's index, from 0.

    On screen the tokens are numbered from `first`. The box is `width` pixels wide. `more` are
    further arguments for `choose`.
    """
    return choose(
        choice,
        range(len(tokens)),
        widget=st.selectbox,
        format_func=lambda place: f"{place + first}: {tokens[place]}",
        width=width,
        **more,
    )
