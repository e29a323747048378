"""How alike words are, before the encoder and after it."""

from __future__ import annotations

import streamlit as st

from model.insight.similarity import Similarity
from pages.shared.inside.words import TAB_WORDS
from pages.shared.runs.arrays import as_array
from pages.shared.runs.inside import words_alone, words_in_sentence
from pages.shared.runs.run import ModelRun
from pages.shared.show.glossary import caption
from pages.shared.show.pictures import show
from pages.shared.show.saving import About
from pages.shared.state.choice import text
from pages.shared.widgets.choose import choose
from viz import word_heatmap

WORDS = text("words", "king, queen, moon", 200, label="Words, with commas between")


def similar_words(run: ModelRun, of: About) -> None:
    """Draw the choice of some words, and how alike they and the sentence's are."""
    caption(TAB_WORDS["words"])
    typed = choose(WORDS)
    try:
        asked = [word.strip() for word in typed.split(",") if word.strip()]
        both_maps("Each word alone", words_alone(run.model, tuple(asked)), "alone", of)
        both_maps("In your sentence", words_in_sentence(run.model, run.sentence), "sentence", of)
    except ValueError as error:
        st.text(str(error))


def both_maps(title: str, found: Similarity, key: str, of: About) -> None:
    """Draw two maps of similarities, before and after context."""
    st.subheader(title)
    maps = {"Embeddings": found.embeddings, "After the encoder": found.outputs}
    for column, (name, values) in zip(st.columns(2), maps.items(), strict=True):
        with column:
            st.markdown(f"**{name}**")
            what = f"Similarity of words, {title}, {name}".lower().capitalize()
            show(word_heatmap(as_array(values), found.words), f"{key} {name}", of=of, what=what)
