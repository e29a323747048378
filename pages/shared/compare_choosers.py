"""The widgets that choose one side of the page Compare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from model.edit_text import write_edits
from pages.shared import history, models, scene
from pages.shared.compare_sides import (
    Recording,
    elsewhere,
    fitted,
    put,
    recordings,
    shape,
    side,
    snapshot,
    take_link,
)
from pages.shared.compare_words import (
    CHANGES_HELP,
    NO_SENTENCE,
    PASTE_HELP,
    TAKE_HELP,
    TOO_MANY_EDITS,
)
from pages.shared.loading import translator
from pages.shared.scene import Scene

Change = Callable[[str, str], None]  # takes the name of a side, and what of it was chosen

RECORDED = "snapshots of "  # what the keys of trainings begin with, among those of models


def choose_side(name: str, chosen: Scene) -> None:
    """Everything that can be chosen of one side, shown as it is now."""
    st.subheader(f"Side {name.upper()}")
    recording = recordings().get(snapshot(chosen)[0]) if chosen.compare_snapshot else None
    if recording:
        choose_snapshot(name, chosen, recording)
    elif not chosen.compare_snapshot:
        label = models.choices()[chosen.model].source.capitalize()
        text = keyed(name, "sentence", chosen.sentence)
        st.text_input(f"{label} sentence", max_chars=scene.LONGEST_SENTENCE, **text)
    with st.container(horizontal=True, gap="xsmall"):
        choose_model(name, chosen)
        choose_place(name, chosen)
    with st.expander(f"Changes, target and links of side {name.upper()}"):
        if not chosen.compare_snapshot:
            choose_run(name, chosen)
        key = f"side_{name}_link"
        st.text_input(
            "Paste a Headlight link", key=key, on_change=take_link, args=[name, key],
            help=PASTE_HELP, max_chars=scene.LONGEST_SIDE,
        )  # fmt: skip
        st.button(
            f"Take what the other pages show as {name.upper()}",
            key=f"side_{name}_take",
            on_click=lambda: put(name, elsewhere()),
            help=TAKE_HELP,
        )


def choose_model(name: str, chosen: Scene) -> None:
    """The model that runs, or the training whose snapshots are shown."""
    titles = {key: choice.title for key, choice in models.choices().items()}
    titles |= {RECORDED + source: each.title for source, each in recordings().items()}
    key = RECORDED + snapshot(chosen)[0] if chosen.compare_snapshot else chosen.model
    if key not in titles:  # a training that is gone
        titles[key] = "A training that is gone"
    widget = keyed(name, "model", key, change_model)
    st.selectbox("Model", titles, format_func=titles.get, **widget)


def choose_snapshot(name: str, chosen: Scene, recording: Recording) -> None:
    """The sentence and the step of a training."""
    recorded = recording.history
    sentence = chosen.sentence if chosen.sentence in recorded.sentences else recorded.sentences[0]
    st.selectbox("Sentence", recorded.sentences, **keyed(name, "sentence", sentence))
    wanted = snapshot(chosen)[1]
    step = min(recorded.steps, key=lambda each: abs(each - wanted))
    if len(recorded.steps) > 1:
        widget = keyed(name, "step", step, change_step)
        st.select_slider("Step", recorded.steps, format_func="{:,}".format, **widget)


def choose_place(name: str, chosen: Scene) -> None:
    """The kind of attention, the layer and the head."""
    layers, heads = shape(chosen) or (1, 1)
    kinds = list(scene.KINDS)
    kind = keyed(name, "kind", chosen.kind)
    st.selectbox("Attention", kinds, format_func=scene.KINDS.get, width=154, **kind)
    numbers = range(1, layers + 1)
    st.selectbox("Layer", numbers, width=62, **keyed(name, "layer", chosen.layer))
    names = scene.head_names(heads)
    st.selectbox("Head", names, width=78, **keyed(name, "head", chosen.head))


def choose_run(name: str, chosen: Scene) -> None:
    """A visitor's changes, and the text that the decoder reads."""
    mine = write_edits(history.edits(chosen.model))
    st.toggle(
        "With my changes",
        disabled=not (mine or chosen.edits),
        help=CHANGES_HELP,
        **keyed(name, "changed", bool(chosen.edits), change_edits),
    )
    if chosen.edits:
        st.text(f"Changed: {chosen.edits.replace('~', ', ')}")
        if not scene.fits("compare_a_edits", chosen.edits):
            st.info(TOO_MANY_EDITS)
    target = models.choices()[chosen.model].target.capitalize()
    st.text_input(
        f"{target} text that the decoder reads",
        placeholder="its translation",
        max_chars=scene.LONGEST_SENTENCE,
        **keyed(name, "target", chosen.target),
    )


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
    if translator(changed.model).tokenizer.encode(changed.sentence):
        put(name, fitted(changed))
    else:
        st.session_state.compare_told = NO_SENTENCE


def change_model(name: str, field: str) -> None:
    """Show another model or training; the sentence stays where it is in the same language."""
    before, key = side(name), picked_value(name, field)
    changed = replace(before, edits="", target="", compare_snapshot="")
    if key.startswith(RECORDED):
        recording = recordings()[key.removeprefix(RECORDED)]
        last = f"{recording.source}.{recording.history.steps[-1]}"
        sentences = recording.history.sentences
        changed = replace(changed, model=models.DEFAULT, compare_snapshot=last)
        kept = before.sentence in sentences
    else:
        old, new = models.choices()[before.model], models.choices()[key]
        sentences = new.examples
        changed = replace(changed, model=key)
        from_toy = before.compare_snapshot.startswith("toy.")
        kept = old.source == new.source and not new.is_own and not from_toy
    put(name, fitted(changed if kept else replace(changed, sentence=sentences[0])))


def change_step(name: str, field: str) -> None:
    """Show another snapshot of the same training."""
    chosen = side(name)
    source, _ = snapshot(chosen)
    put(name, replace(chosen, compare_snapshot=f"{source}.{picked_value(name, field)}"))


def change_edits(name: str, field: str) -> None:
    """Take over the visitor's changes as they are now, or show the model as trained."""
    chosen = side(name)
    mine = write_edits(history.edits(chosen.model))
    put(name, replace(chosen, edits=mine if picked_value(name, field) else ""))
