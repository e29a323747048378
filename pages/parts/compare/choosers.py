"""The widgets that choose one side of the page Compare, and what they change on it."""

from __future__ import annotations

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
from pages.shared.runs.translator import translator
from pages.shared.state import catalog, edit_history, models
from pages.shared.state.choices import LONGEST_SENTENCE, chosen
from pages.shared.state.library_choices import BERT_NAME
from pages.shared.widgets.choose import Widget, editor, head_options, words

# What the keys of trainings and of the transformers library's models begin with.
RECORDED, LIBRARY = "snapshots of ", "library's "
READS = "text that the decoder reads"


def draw(widget: Widget, name: str, what: str, label: str, value: object, **more: object) -> None:
    """Draw a widget for a field of a side, or for a `value` that `change` takes."""
    # With more or fewer options it is another widget.
    options = f"_{len(more['options'])}" if "options" in more else ""
    editor(widget, label, value, more.pop("change"), f"side_{name}_{what}{options}", **more)


def field(widget: Widget, name: str, side: Side, field: str, label: str = "", **more: Any) -> None:
    """Draw a widget for a field of a side."""
    choice = side.held_choices()[field]
    more |= {"change": lambda value: change_field(name, field, value)}
    if widget is st.text_input:
        more |= {"max_chars": choice.bounds}
    else:
        more |= {"format_func": lambda value: words(choice, value)}
    draw(widget, name, choice.key, label or choice.label, getattr(side, field), **more)


def change_field(name: str, field: str, value: object) -> None:
    """Put a field into a side; a sentence without tokens is left out, and that is said."""
    side = current(name)
    changed = replace(side, **{field: value})
    if isinstance(side, LibrarySide) and field in ("text", "second"):
        changed = replace(changed, masked="")  # the words that were masked are gone
    elif isinstance(side, TranslatorSide) and not translator(side.model).tokenizer.encode(
        changed.text
    ):
        st.session_state.compare_told = NO_SENTENCE
        return
    show_on(name, changed.fitted())


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
                more = {"options": history.steps, "format_func": "{:,}".format}
                more["change"] = lambda step: change_field(
                    name, "snapshot", f"{side.source}.{step}"
                )
                draw(st.select_slider, name, "step", "Step", side.step, **more)
        case LibrarySide():
            pair = getattr(side.loaded.model, "takes_pairs", False)
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
            label = (
                f"{models.choices()[side.model].target.capitalize()} text that the decoder reads"
            )
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
    more = {"disabled": not (mine or side.edits), "help": help}
    more["change"] = lambda on: change_field(name, "edits", mine if on else "")
    draw(st.toggle, name, "changed", "With my changes", bool(side.edits), **more)
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
            key = RECORDED + side.source
            titles.setdefault(key, GONE)
        case LibrarySide():
            key = LIBRARY + side.name
            titles.setdefault(key, short(side.name))
    more = {"options": titles, "format_func": titles.get}
    draw(st.selectbox, name, "model", "Model", key, change=partial(change_model, name), **more)


def change_model(name: str, key: str) -> None:
    """Show another model or training; the sentence stays if it is in the same language."""
    before = current(name)
    head = {"kind": before.kind, "layer": before.layer, "head": before.head}
    language, text = before.writer, before.text
    if isinstance(before, LibrarySide):
        head, language, text = {}, catalog.DEFAULT, text[:LONGEST_SENTENCE]
    if key.startswith(LIBRARY):
        model = key.removeprefix(LIBRARY)
        if isinstance(before, LibrarySide):
            after = replace(before, name=model, edits="", masked="")
        else:
            after = LibrarySide(name=model, text=text, second="")
    elif key.startswith(RECORDED):
        source = key.removeprefix(RECORDED)
        if source not in recordings():
            st.session_state.compare_told = NO_TRAINING
            return
        last = recordings()[source][1].steps[-1]
        after = SnapshotSide(**head, text=text, snapshot=f"{source}.{last}")
    elif key not in models.choices():  # another tab of the visitor's made room for a newer one
        st.session_state.compare_told = NO_MODEL
        return
    else:
        new = models.choices()[key]
        known = language and models.choices()[language].source == new.source and not new.is_own
        after = TranslatorSide(**head, text=text if known else new.examples[0], model=key)
    show_on(name, after.fitted())
