"""The sentence box that every page begins with, and the translation under it."""

from __future__ import annotations

import streamlit as st

from model import Translation
from pages.shared import scene
from pages.shared.loading import translator
from pages.shared.pictures import chips, show
from pages.shared.words import notes
from viz import token_strip

EMPTY = "Type an English sentence above, or pick one of the examples."


def sentence_box() -> str | None:
    """The sentence to show, the last one that could be read, or None after asking for one."""
    config = translator().model.config
    scene.restore(config.decoder_layers, config.heads)
    sentence = st.text_input(
        "English sentence",
        key="sentence",
        max_chars=scene.LONGEST_SENTENCE,
        placeholder="Type an English sentence and press Enter",
    )
    st.pills(
        "Examples",
        scene.EXAMPLES,
        key="example",
        on_change=_choose_example,
        label_visibility="collapsed",
    )
    if translator().tokenizer.encode(sentence):
        st.session_state.readable = sentence
        return sentence
    readable = st.session_state.get("readable")
    st.info(EMPTY if readable is None else f"{EMPTY} Until then the last sentence stays:")
    if readable is None:
        scene.publish()
    else:
        st.text(readable)
    return readable


def show_translation(translation: Translation) -> None:
    """The tokens of both sides, the translation in large, and what a visitor should know."""
    source, target = st.columns(2)
    with source:
        count = len(translation.source_tokens)
        label = f"English, as the encoder reads it: {count} tokens"
        show(token_strip("", chips(translation.source_tokens), label=label), "source")
    with target:
        count = len(translation.target_tokens)
        label = f"French, as the decoder wrote it: {count} tokens"
        strip = token_strip(translation.text, chips(translation.target_tokens), label=label)
        show(strip, "target")
    for note in notes(translation):
        st.info(note)


def _choose_example() -> None:
    """Put the clicked example into the sentence box, and let it be clicked again."""
    st.session_state.sentence = st.session_state.example
    st.session_state.example = None
