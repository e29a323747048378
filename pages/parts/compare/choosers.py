"""The widgets that choose a side of the page Compare, and their callbacks."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from headlight.model.edits import write_edits
from headlight.pages.parts.compare.links import (
    LONGEST_LINK,
    SIDES_EDITS,
    current,
    elsewhere,
    paste,
    show_on,
)
from headlight.pages.parts.compare.sides import (
    NO_TRAINING,
    OWN_TRAINING,
    ModelSide,
    Side,
    SnapshotSide,
    at_step,
    hidden_words,
    recordings,
)
from headlight.pages.shared import address
from headlight.pages.shared.controls.sentence import text_label
from headlight.pages.shared.state import edit_history, models
from headlight.pages.shared.widgets.choose import place_options, words
from headlight.pages.streamlit_fixes.late_values import Widget, editor

NO_MODEL = "That model is gone, so the previous one stays."
NO_SENTENCE = "That sentence was empty, so the previous one stays."
TAKE_HELP = "The sentence, model, changes and head that the other pages show now."
CHANGES_HELP = (
    "Your changes to this model on the Masks and Heads pages, as they are when you switch this on."
)
RECORDED = "snapshots of "  # a training is listed among the models under this prefix and its key
Change = Callable[[Any], None]


def draw(
    widget: Widget, name: str, what: str, label: str, value: object, change: Change, **more: Any
) -> None:
    """Draw a widget for a value of side `name`; `change` is called with a newly chosen value."""
    # The number of options is in the key, so that a list of another length makes a new widget.
    options = f"_{len(more['options'])}" if "options" in more else ""
    editor(widget, label, value, change, f"side_{name}_{what}{options}", **more)


def field(widget: Widget, name: str, side: Side, field: str, label: str = "", **more: Any) -> None:
    """Draw the widget that sets a field, such as `text`, of the side A or B."""
    choice = side.held_choices()[field]
    if widget is st.text_input:
        more |= {"max_chars": choice.bounds}
    else:
        more |= {"format_func": partial(words, choice)}
    change = partial(change_field, name, field)
    draw(widget, name, choice.key, label or choice.label, getattr(side, field), change, **more)


def change_field(name: str, field: str, value: Any) -> None:
    """Set a field of a side to a value; an empty text is rejected with a note."""
    if field == "text" and not value.strip():
        st.session_state.compare_told = NO_SENTENCE
        return
    side = replace(current(name), **{field: value})
    if isinstance(side, ModelSide) and field in ("text", "second"):
        side = replace(side, masked="")  # the hidden words were those of the previous text
    show_on(name, side)


def choose_side(name: str, side: Side) -> None:
    """Draw all widgets that choose what one side (A or B) of the page shows."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        with suppress(ValueError):  # if its model is missing, the page says so below
            choose_text(name, side)
        with st.popover(f"More of {name.upper()}"):
            choose_run(name, side)
            choose_scene(name)
    with st.container(horizontal=True, gap="xsmall"):
        choose_model(name, side)
        # On the model's line, or all three together below it.
        with suppress(ValueError), st.container(horizontal=True, gap="xsmall", width="content"):
            choose_head(name, side)


def choose_scene(name: str) -> None:
    """Draw two ways to replace a side: a box for a pasted link, and a button.

    The button shows on this side what the other pages show now.
    """
    key = f"side_{name}_link"
    st.text_input(
        "Paste a Headlight link", key=key, on_change=paste, args=[name, key],
        help="The address of any Headlight page, to be shown on this side.", max_chars=LONGEST_LINK,
    )  # fmt: skip
    label = f"Show on {name.upper()} what the other pages show"
    st.button(label, f"side_{name}_take", TAKE_HELP, on_click=lambda: show_on(name, elsewhere()))


def choose_text(name: str, side: Side) -> None:
    """Draw the choice of the text; for a snapshot of a training also the choice of its step."""
    match side:
        case ModelSide():
            label = f"{name.upper()}: {text_label(models.named(side.model), side.reader)}"
            field(st.text_input, name, side, "text", label)
            if "read a pair" not in side.reader.missing:
                field(st.text_input, name, side, "second")
        case SnapshotSide():
            _, history = side.recording
            field(
                st.selectbox,
                name,
                side,
                "text",
                f"{name.upper()}: sentence",
                options=history.sentences,
            )
            if len(history.steps) > 1:
                draw(
                    st.select_slider, name, "step", "Step", side.step,
                    lambda step: change_field(name, "snapshot", f"{side.source}.{step}"),
                    options=history.steps, format_func="{:,}".format,
                )  # fmt: skip


def choose_head(name: str, side: Side) -> None:
    """Draw the choices of the kind of attention, the layer and the head."""
    if len(side.kinds) > 1:
        field(st.selectbox, name, side, "kind", "Attention", options=side.kinds, width=144)
    for level, count in zip(("layer", "head"), side.shape, strict=True):
        field(st.selectbox, name, side, level, options=place_options(count), width=80)


def choose_run(name: str, side: Side) -> None:
    """Draw the choices of the changes, and of the text that the decoder reads."""
    if not isinstance(side, ModelSide):
        return
    choose_changes(name, side)
    if hidden := hidden_words(side):
        st.text(hidden)
    with suppress(ValueError):  # the model may not be in memory
        if "cross" in side.kinds:
            label = "Text that the decoder reads"
            written = "the text that it writes itself" if side.writer else ""
            field(st.text_input, name, side, "target", label, placeholder=written)


def choose_changes(name: str, side: ModelSide) -> None:
    """Draw the switch that applies the visitor's changes, and describe the side's changes."""
    mine = write_edits(edit_history.edits(side.model))
    draw(
        st.toggle, name, "changed", "With my changes", bool(side.edits),
        lambda on: change_field(name, "edits", mine if on else ""),
        disabled=not (mine or side.edits), help=CHANGES_HELP,
    )  # fmt: skip
    if side.edits:
        st.text(f"Changed: {side.edits.replace('~', ', ')}")
    if not address.fits(SIDES_EDITS[name], side.edits):
        st.info("There are too many changes for a link: it will show this side as trained.")


def choose_model(name: str, side: Side) -> None:
    """Draw the choice of a model, or of a training whose snapshots are shown."""
    entries = [*models.choices().values(), models.chosen()]
    titles = {entry.key: entry.title for entry in entries}
    titles |= {RECORDED + source: title for source, (title, _) in recordings().items()}
    if isinstance(side, SnapshotSide):
        titles.setdefault(key := RECORDED + side.source, "A training that is gone")
    else:
        titles.setdefault(key := side.model, models.named(side.model).title)
    change, title = partial(change_model, name), titles.get
    draw(st.selectbox, name, "model", "Model", key, change, options=titles, format_func=title)


def change_model(name: str, key: str) -> None:
    """Show another model or training on a side.

    A visitor's own model reads only texts of its own kind: if the old or the new model is one, the
    text is replaced by an example.
    """
    side, source = current(name), key.removeprefix(RECORDED)
    new = models.named(key)
    if new.key == key:
        text = new.examples[0] if new.is_own or reads_numbers(side) else side.text
        places = side.kind, side.layer, side.head
        show_on(name, ModelSide(*places, text, second=side.second, model=key))
    elif source in recordings():
        show_on(name, at_step(side, source, recordings()[source][1].steps[-1]))
    else:  # another tab of the visitor has dropped the model
        st.session_state.compare_told = NO_MODEL if source == key else NO_TRAINING


def reads_numbers(side: Side) -> bool:
    """Return whether a side has a visitor's own model, whose texts only that model can read."""
    if isinstance(side, SnapshotSide):
        return side.source == OWN_TRAINING
    return models.named(side.model).is_own
