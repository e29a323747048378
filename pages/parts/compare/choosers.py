"""The widgets that choose one side of the page Compare, and what they change on it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from model.edits import write_edits
from pages.parts.compare.links import LONGEST_LINK, SIDES_EDITS, current, paste, show_on
from pages.parts.compare.presets import elsewhere, elsewhere_in_library
from pages.parts.compare.sides import (
    LibrarySide,
    Side,
    SnapshotSide,
    TranslatorSide,
    at_step,
    recordings,
)
from pages.parts.compare.words import (
    CHANGES_HELP,
    GONE,
    NO_MODEL,
    NO_SENTENCE,
    NO_TRAINING,
    OTHER_CHANGES_HELP,
    PASTE_HELP,
    TAKE_HELP,
    TOO_MANY_EDITS,
)
from pages.shared.link import link
from pages.shared.runs.shelf import mine, short
from pages.shared.state import edit_history, models
from pages.shared.state.choices import LONGEST_SENTENCE, chosen
from pages.shared.state.library_choices import BERT_NAME
from pages.shared.widgets.choose import Widget, editor, head_options, words

# What the keys of trainings and of the transformers library's models begin with.
RECORDED, LIBRARY = "snapshots of ", "library's "
READS = "text that the decoder reads"
Change = Callable[[Any], None]


def draw(
    widget: Widget, name: str, what: str, label: str, value: object, change: Change, **more: object
) -> None:
    """Draw a widget for a value of a side, which `change` is called with."""
    # With more or fewer options it is another widget.
    options = f"_{len(more['options'])}" if "options" in more else ""
    editor(widget, label, value, change, f"side_{name}_{what}{options}", **more)


def field(widget: Widget, name: str, side: Side, field: str, label: str = "", **more: Any) -> None:
    """Draw a widget for a field of a side."""
    choice = side.held_choices()[field]
    if widget is st.text_input:
        more |= {"max_chars": choice.bounds}
    else:
        more |= {"format_func": partial(words, choice)}
    change = partial(change_field, name, field)
    draw(widget, name, choice.key, label or choice.label, getattr(side, field), change, **more)


def change_field(name: str, field: str, value: object) -> None:
    """Put a field into a side; a sentence without tokens is left out, and that is said."""
    side = current(name)
    changed = replace(side, **{field: value})
    if isinstance(side, LibrarySide) and field in ("text", "second"):
        changed = replace(changed, masked="")  # the words that were masked are gone
    if isinstance(side, TranslatorSide) and changed.readable() != changed:
        st.session_state.compare_told = NO_SENTENCE
    else:
        show_on(name, changed)


def choose_side(name: str, side: Side) -> None:
    """Draw everything that can be chosen of one side, as it is now."""
    st.subheader(f"Side {name.upper()}")
    with suppress(ValueError):  # it is gone, which is said in place of the maps
        choose_text(name, side)
    with st.container(horizontal=True, gap="xsmall"):
        choose_model(name, side)
        with suppress(ValueError):
            choose_head(name, side)
    with st.expander(f"Changes, target and links of side {name.upper()}"):
        choose_run(name, side)
        choose_scene(name)


def choose_scene(name: str) -> None:
    """Draw what puts a whole scene on a side: a box for its link, and what other pages show."""
    key = f"side_{name}_link"
    st.text_input(
        "Paste a Headlight link", key=key, on_change=paste, args=[name, key],
        help=PASTE_HELP, max_chars=LONGEST_LINK,
    )  # fmt: skip
    label, take = f"Take what the other pages show as {name.upper()}", f"side_{name}_take"
    st.button(label, take, TAKE_HELP, on_click=lambda: show_on(name, elsewhere()))
    if other := elsewhere_in_library():
        label = f"Take what BERT and others shows as {name.upper()}"
        st.button(label, f"{take}_other", on_click=show_on, args=[name, other])


def choose_text(name: str, side: Side) -> None:
    """Draw the choice of the text that is read, and of the step of a training."""
    match side:
        case TranslatorSide():
            language = models.choices()[side.model].source.capitalize()
            field(st.text_input, name, side, "text", f"{language} sentence")
        case SnapshotSide():
            _, history = side.recording
            field(st.selectbox, name, side, "text", "Sentence", options=history.sentences)
            if len(history.steps) > 1:
                draw(
                    st.select_slider, name, "step", "Step", side.step,
                    lambda step: change_field(name, "snapshot", f"{side.source}.{step}"),
                    options=history.steps, format_func="{:,}".format,
                )  # fmt: skip
        case LibrarySide():
            pair = side.loaded.model.takes_pairs
            field(st.text_input, name, side, "text", "Sentence 1" if pair else "Text")
            if pair:
                field(st.text_input, name, side, "second", "Sentence 2, or nothing")


def choose_head(name: str, side: Side) -> None:
    """Draw the choices of the kind of attention, the layer and the head."""
    kinds, (layers, heads) = side.kinds, side.shape
    if len(kinds) > 1:
        field(st.selectbox, name, side, "kind", "Attention", options=kinds, width=146)
    summed = isinstance(side, LibrarySide)
    places = head_options(layers) if summed else range(layers)
    field(st.selectbox, name, side, "layer", options=places, width=86 if summed else 62)
    field(st.selectbox, name, side, "head", options=head_options(heads), width=86)


def choose_run(name: str, side: Side) -> None:
    """Draw the choices of the changes, and of the text that the decoder reads."""
    match side:
        case TranslatorSide():
            choose_changes(name, side, side.model, CHANGES_HELP)
            label = f"{models.choices()[side.model].target.capitalize()} {READS}"
            field(st.text_input, name, side, "target", label, placeholder="its translation")
        case LibrarySide():
            history = edit_history.BERT if side.name == chosen(BERT_NAME) else None
            choose_changes(name, side, history, OTHER_CHANGES_HELP)
            if side.masked:
                places = ", ".join(str(int(place) + 1) for place in side.masked.split(","))
                st.text(f"Masked: the tokens at {places}")
            if side.kind != "encoder":
                field(st.text_input, name, side, "target", READS.capitalize())


def choose_changes(name: str, side: Side, history: str | None, help: str) -> None:
    """Draw the switch for a visitor's changes as they are now, and those of the side in words."""
    mine = write_edits(edit_history.edits(history)) if history else ""
    draw(
        st.toggle, name, "changed", "With my changes", bool(side.edits),
        lambda on: change_field(name, "edits", mine if on else ""),
        disabled=not (mine or side.edits), help=help,
    )  # fmt: skip
    if side.edits:
        st.text(f"Changed: {side.edits.replace('~', ', ')}")
    if not link.fits(SIDES_EDITS[name], side.edits):
        st.info(TOO_MANY_EDITS)


def choose_model(name: str, side: Side) -> None:
    """Draw the choice of the model that runs, or of the training whose snapshots are shown."""
    titles = {key: entry.title for key, entry in models.choices().items()}
    titles |= {RECORDED + source: title for source, (title, _) in recordings().items()}
    titles |= {LIBRARY + loaded.name: short(loaded.name) for loaded in mine()}
    match side:
        case TranslatorSide():
            key = side.model
        case SnapshotSide():
            titles.setdefault(key := RECORDED + side.source, GONE)
        case LibrarySide():
            titles.setdefault(key := LIBRARY + side.name, short(side.name))
    change, title = partial(change_model, name), titles.get
    draw(st.selectbox, name, "model", "Model", key, change, options=titles, format_func=title)


def change_model(name: str, key: str) -> None:
    """Show another model or training; the sentence stays if it is in the same language."""
    side = before = current(name)
    if isinstance(before, LibrarySide):  # which has other heads, and room for longer texts
        side = TranslatorSide(text=before.text[:LONGEST_SENTENCE])
    if new := models.choices().get(key):
        writer = models.choices().get(side.writer)
        known = writer and writer.source == new.source and not new.is_own
        text = side.text if known else new.examples[0]
        after = TranslatorSide(side.kind, side.layer, side.head, text, model=key)
    elif key.startswith(LIBRARY):
        if not isinstance(before, LibrarySide):
            before = LibrarySide(text=before.text, second="")
        after = replace(before, name=key.removeprefix(LIBRARY), edits="", masked="")
    elif (source := key.removeprefix(RECORDED)) in recordings():
        after = at_step(side, source, recordings()[source][1].steps[-1])
    else:  # another tab of the visitor's made room for a newer one
        st.session_state.compare_told = NO_MODEL if source == key else NO_TRAINING
        return
    show_on(name, after)
