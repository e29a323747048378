"""The sentence box that every page begins with, and the translation under it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from model import Translation
from pages.shared.runs.translator import translator
from pages.shared.show.pictures import chips, show
from pages.shared.show.saving import About
from pages.shared.show.words import notes
from pages.shared.state import models
from pages.shared.state.choices import MODEL, SENTENCE, put
from pages.shared.widgets.choose import choose, pick_one
from viz import token_strip

EMPTY = "Type an {asked} above, or pick one of the examples."


def sentence_box() -> str | None:
    """Return the sentence to show, the last one that could be read, or None after asking for one.

    Draws the box for it, the choice of the model and the examples.
    """
    model = models.chosen()
    titles = {key: entry.title for key, entry in models.choices().items()}
    box, choice = st.columns([3, 1], gap="small")
    with box:
        sentence = choose(
            SENTENCE,
            label=model.asks_for[0].upper() + model.asks_for[1:],
            placeholder=f"Type an {model.asks_for} and press Enter",
        )
    with choice:
        leave = {"on_change": models.leave, "args": [model]}
        choose(MODEL, titles, widget=st.selectbox, format_func=titles.get, **leave)
    pick_one("Examples", model.examples, "example", partial(put, SENTENCE))
    if translator().tokenizer.encode(sentence):
        models.note_readable(sentence)
        return sentence
    readable = models.last_readable()
    words = EMPTY.format(asked=model.asks_for)
    st.info(words if readable is None else f"{words} Still showing the previous sentence:")
    if readable is not None:
        st.text(readable)
    return readable


def show_translation(translation: Translation, of: About) -> None:
    """Draw the tokens of both sides, the translation in large, and what a visitor should know."""
    model = models.chosen()
    source, target = st.columns(2)
    read, written = translation.source_tokens, translation.target_tokens
    with source:
        label = f"{model.source.capitalize()}, as the encoder reads it: {len(read)} tokens"
        strip = token_strip("", chips(read), label=label)
        show(strip, "source", of=of, what="Tokens read")
    with target:
        label = f"{model.target.capitalize()}, as the decoder wrote it: {len(written)} tokens"
        strip = token_strip(translation.text, chips(written), label=label)
        show(strip, "target", of=of, what="Tokens written")
    for note in notes(translation):
        st.info(note)
