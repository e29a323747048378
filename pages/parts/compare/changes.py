"""What the widgets of the page Compare change on a side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from model.edits import write_edits
from pages.parts.compare import others
from pages.parts.compare.sides import (
    fitted,
    own,
    put,
    recordings,
    side,
    snapshot,
)
from pages.parts.compare.words import NO_MODEL, NO_SENTENCE, NO_TRAINING
from pages.shared.runs.translator import translator
from pages.shared.state import catalog, edit_history, models, scene
from pages.shared.state.scene import Scene

Change = Callable[[str, str], None]  # takes the name of a side, and what of it was chosen

# What the keys of trainings and of the transformers library's models begin with.
RECORDED, OTHER = "snapshots of ", "library's "


def keyed(name: str, field: str, value: object, change: Change | None = None) -> dict:
    """The key of a widget, which has this value now, and what to do when it changes."""
    key = f"side_{name}_{field}"
    st.session_state[key] = value
    return {"key": key, "on_change": change or change_field, "args": [name, field]}


def picked_value(name: str, field: str) -> object:
    """What was just chosen in a widget."""
    return st.session_state[f"side_{name}_{field}"]


def change_field(name: str, field: str) -> None:
    """Put what was chosen into the side; a sentence without tokens is told and left out."""
    changed = replace(side(name), **{field: picked_value(name, field)})
    if field in ("bert_first", "bert_second"):
        changed = replace(changed, bert_masked="")  # the words that were masked are gone
    readable = translator(changed.model).tokenizer.encode(changed.sentence)
    if readable or others.is_other(changed):
        put(name, fitted(changed))
    else:
        st.session_state.compare_told = NO_SENTENCE


def change_model(name: str, field: str) -> None:
    """Show another model or training; the sentence stays where it is in the same language."""
    before, key = side(name), picked_value(name, field)
    changed = own(replace(before, edits="", target="", compare_snapshot=""))
    if key.startswith(OTHER):
        put(name, fitted(other_side(before, key.removeprefix(OTHER))))
        return
    if others.is_other(before):
        before = changed = replace(changed, sentence=before.bert_first[: scene.LONGEST_SENTENCE])
    if key.startswith(RECORDED):
        recording = recordings().get(key.removeprefix(RECORDED))
        if recording is None:
            st.session_state.compare_told = NO_TRAINING
            return
        last = f"{recording.source}.{recording.history.steps[-1]}"
        sentences = recording.history.sentences
        changed = replace(changed, model=catalog.DEFAULT, compare_snapshot=last)
        kept = before.sentence in sentences
    elif key not in models.choices():  # another tab of the visitor's made room for a newer one
        st.session_state.compare_told = NO_MODEL
        return
    else:
        old, new = models.choices()[before.model], models.choices()[key]
        sentences = new.examples
        changed = replace(changed, model=key)
        from_toy = before.compare_snapshot.startswith("toy.")
        kept = old.source == new.source and not new.is_own and not from_toy
    put(name, fitted(changed if kept else replace(changed, sentence=sentences[0])))


def other_side(before: Scene, name: str) -> Scene:
    """The text of a side, read by a model of the transformers library."""
    place = {"bert_name": name, "bert_edits": "", "bert_masked": ""}
    if others.is_other(before):
        return replace(before, **place)
    return Scene(**place, bert_first=before.sentence, bert_second="")


def change_other_edits(name: str, field: str) -> None:
    """Take over the heads that the visitor switched on the page BERT and others, or none."""
    mine = write_edits(edit_history.edits(edit_history.BERT))
    put(name, replace(side(name), bert_edits=mine if picked_value(name, field) else ""))


def change_step(name: str, field: str) -> None:
    """Show another snapshot of the same training."""
    chosen = side(name)
    if found := snapshot(chosen):
        put(name, replace(chosen, compare_snapshot=f"{found[0]}.{picked_value(name, field)}"))


def change_edits(name: str, field: str) -> None:
    """Take over the visitor's changes as they are now, or show the model as trained."""
    chosen = side(name)
    mine = write_edits(edit_history.edits(chosen.model))
    put(name, replace(chosen, edits=mine if picked_value(name, field) else ""))
