"""The widgets that choose one side of the page Compare."""

from __future__ import annotations

import streamlit as st

from model.edits import write_edits
from pages.parts.compare import others
from pages.parts.compare.changes import (
    OTHER,
    RECORDED,
    change_edits,
    change_model,
    change_other_edits,
    change_step,
    keyed,
)
from pages.parts.compare.sides import (
    Recording,
    elsewhere,
    put,
    recordings,
    shape,
    snapshot,
    take_link,
)
from pages.parts.compare.words import (
    CHANGES_HELP,
    OTHER_CHANGES_HELP,
    PASTE_HELP,
    TAKE_HELP,
    TOO_MANY_EDITS,
)
from pages.shared.runs.shelf import mine, short
from pages.shared.state import edit_history, models, scene
from pages.shared.state.scene import Scene


def choose_side(name: str, chosen: Scene) -> None:
    """Everything that can be chosen of one side, shown as it is now."""
    st.subheader(f"Side {name.upper()}")
    other = others.is_other(chosen)
    recording = recordings().get(snapshot(chosen)[0]) if chosen.compare_snapshot else None
    if recording:
        choose_snapshot(name, chosen, recording)
    elif other:
        choose_texts(name, chosen)
    elif not chosen.compare_snapshot:
        label = models.choices()[chosen.model].source.capitalize()
        text = keyed(name, "sentence", chosen.sentence)
        st.text_input(f"{label} sentence", max_chars=scene.LONGEST_SENTENCE, **text)
    with st.container(horizontal=True, gap="xsmall"):
        choose_model(name, chosen)
        (choose_other_place if other else choose_place)(name, chosen)
    with st.expander(f"Changes, target and links of side {name.upper()}"):
        if other:
            choose_other_run(name, chosen)
        elif not chosen.compare_snapshot:
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
        if shown := others.elsewhere():
            label = f"Take what BERT and others shows as {name.upper()}"
            st.button(label, key=f"side_{name}_take_other", on_click=put, args=[name, shown])


def choose_model(name: str, chosen: Scene) -> None:
    """The model that runs, or the training whose snapshots are shown."""
    titles = {key: choice.title for key, choice in models.choices().items()}
    titles |= {RECORDED + source: each.title for source, each in recordings().items()}
    titles |= {OTHER + loaded.name: short(loaded.name) for loaded in mine()}
    key = chosen.model
    if chosen.compare_snapshot:
        key = RECORDED + snapshot(chosen)[0]
        titles.setdefault(key, "A training that is gone")
    elif chosen.bert_name:
        key = OTHER + chosen.bert_name
        titles.setdefault(key, short(chosen.bert_name))
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


def choose_texts(name: str, chosen: Scene) -> None:
    """The text that a model of the transformers library reads, or its two sentences."""
    try:
        paired = getattr(others.loaded(chosen).model, "takes_pairs", False)
    except ValueError:
        return  # said below, where the maps would be
    limit = {"max_chars": scene.LONGEST_TEXT}
    label = "Sentence 1" if paired else "Text"
    st.text_input(label, **limit, **keyed(name, "bert_first", chosen.bert_first))
    if paired:
        second = keyed(name, "bert_second", chosen.bert_second)
        st.text_input("Sentence 2, or nothing", **limit, **second)


def choose_other_place(name: str, chosen: Scene) -> None:
    """The kind of attention, the layer and the head, in a model of the transformers library."""
    try:
        kinds, layers = others.kinds(chosen), others.layers(chosen)
    except ValueError:
        return
    if len(kinds) > 1:
        kind = keyed(name, "bert_kind", chosen.bert_kind)
        st.selectbox("Attention", kinds, format_func=scene.KINDS.get, width=146, **kind)
    numbers = scene.head_names(len(layers))
    layer = keyed(name, "bert_layer", chosen.bert_layer)
    st.selectbox("Layer", numbers, width=86, **layer)
    names = scene.head_names(len(layers[0]))
    st.selectbox("Head", names, width=86, **keyed(name, "bert_head", chosen.bert_head))


def choose_other_run(name: str, chosen: Scene) -> None:
    """The heads switched in a model of the transformers library, and what its decoder reads."""
    is_there = chosen.bert_name == st.session_state.bert_name
    switched = write_edits(edit_history.edits(edit_history.BERT)) if is_there else ""
    widget = keyed(name, "changed", bool(chosen.bert_edits), change_other_edits)
    choose_changes(switched, chosen.bert_edits, OTHER_CHANGES_HELP, widget)
    if chosen.bert_masked:
        places = ", ".join(str(int(place) + 1) for place in chosen.bert_masked.split(","))
        st.text(f"Masked: the tokens at {places}")
    if chosen.bert_kind != "encoder":
        target = keyed(name, "bert_target", chosen.bert_target)
        st.text_input("Text that the decoder reads", max_chars=scene.LONGEST_TEXT, **target)


def choose_changes(mine: str, edits: str, words: str, widget: dict) -> None:
    """The switch for a visitor's changes, where there are any, and the side's own as a text."""
    st.toggle("With my changes", disabled=not (mine or edits), help=words, **widget)
    if edits:
        st.text(f"Changed: {edits.replace('~', ', ')}")


def choose_place(name: str, chosen: Scene) -> None:
    """The kind of attention, the layer and the head."""
    layers, heads = shape(chosen) or (1, 1)
    kinds = list(scene.KINDS)
    kind = keyed(name, "kind", chosen.kind)
    st.selectbox("Attention", kinds, format_func=scene.KINDS.get, width=146, **kind)
    numbers = range(1, layers + 1)
    st.selectbox("Layer", numbers, width=62, **keyed(name, "layer", chosen.layer))
    names = scene.head_names(heads)
    st.selectbox("Head", names, width=86, **keyed(name, "head", chosen.head))


def choose_run(name: str, chosen: Scene) -> None:
    """A visitor's changes, and the text that the decoder reads."""
    changed = write_edits(edit_history.edits(chosen.model))
    widget = keyed(name, "changed", bool(chosen.edits), change_edits)
    choose_changes(changed, chosen.edits, CHANGES_HELP, widget)
    if not scene.fits("compare_a_edits", chosen.edits):
        st.info(TOO_MANY_EDITS)
    target = models.choices()[chosen.model].target.capitalize()
    st.text_input(
        f"{target} text that the decoder reads",
        placeholder="its translation",
        max_chars=scene.LONGEST_SENTENCE,
        **keyed(name, "target", chosen.target),
    )
