"""The text a BERT reads: its sentences, its tokens, and what it puts in place of a mask."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from model.edits import Edits
from model.library.bert_reader import NO_HEAD, BertReader
from model.library.hub import first_line
from model.library.transformers_model import TransformersModel
from pages.parts.bert.words import MASK_HINT, PARITY, PREDICTIONS, TARGET
from pages.shared.runs.library import BertRun, measured_parity, probabilities
from pages.shared.show.comparison import CHANGED, TRAINED
from pages.shared.show.pictures import all_picked, piece_chips, show
from pages.shared.show.saving import About
from pages.shared.state.choice import Choice
from pages.shared.state.choices import chosen, put
from pages.shared.state.library_choices import (
    BERT_FIRST,
    BERT_MASKED,
    BERT_SECOND,
    BERT_TARGET,
)
from pages.shared.widgets.choose import choose
from viz import probability_bars, token_strip

TOP = 8  # predictions shown
SAME = 1e-4  # rounding of 32-bit numbers over many layers stays below


def text_boxes(model: BertReader | TransformersModel) -> tuple[str, str]:
    """Draw the box for the text, and one for a second sentence or for what the decoder reads."""
    label, asked = "Text", "text"
    if isinstance(model, BertReader):
        label, asked = "Sentence 1", "sentence"
    left, right = st.columns(2)
    with left:
        first = text_box(BERT_FIRST, label, f"Type a {asked} and press Enter")
    with right:
        if model.takes_pairs:
            return first, text_box(BERT_SECOND, "Sentence 2, or nothing")
        if len(model.kinds) > 1:
            return first, text_box(BERT_TARGET, TARGET)
    return first, ""


def text_box(choice: Choice, label: str, placeholder: str = "") -> str:
    """Draw a box for a text; masked words are forgotten with the text they stood in."""
    return choose(
        choice, label=label, placeholder=placeholder, on_change=lambda: put(BERT_MASKED, "")
    )


def tokens_to_mask(run: BertRun, of: About) -> None:
    """Draw the tokens as chips, a click on which masks their word, and notes on them."""
    reader, pieces = run.reader, run.trace.source_tokens
    label = f"What the model reads: {len(pieces)} tokens. {MASK_HINT}, again to bring it back."
    strip = token_strip("", piece_chips(pieces, reader.takes_pairs), label=label, clickable=True)
    show(strip, "tokens", lambda: mask(pieces), of=of, what="Tokens read")
    if reader.is_cut(run.first, run.second):
        st.info(f"The text is longer than the {reader.max_tokens} tokens that this model can read.")
    if unknown := sum(piece.is_unknown for piece in pieces):
        st.info(
            f"The model has no piece for {unknown} of the tokens, framed in dashes: it reads each "
            "of them as “unknown”."
        )


def mask(pieces: list) -> None:
    """Mask the clicked word, all of its pieces, or bring it back."""
    for clicked in all_picked("tokens"):
        if clicked >= len(pieces):
            continue  # in a longer text, which is gone meanwhile
        word = pieces[clicked].word
        places = {place for place, piece in enumerate(pieces) if piece.word == word}
        before = {int(place) for place in chosen(BERT_MASKED).split(",") if place}
        after = before - places if places <= before else before | places
        put(BERT_MASKED, ",".join(map(str, sorted(after))))


def predictions(run: BertRun, of: About) -> None:
    """Draw what the model would put in the place of a mask, as trained and with heads switched.

    There is a mask in what it reads.
    """
    reader, pieces = run.reader, run.trace.source_tokens
    if not reader.predicts:
        st.info(NO_HEAD)
        return
    written = reader.read(run.first, run.second)
    places = [place for place, piece in enumerate(pieces) if piece.id == reader.mask_id]
    place = places[0]
    if len(places) > 1:
        place = st.selectbox(
            "Masked place", places, format_func=lambda at: f"{at + 1}: {written[at].text}"
        )
    found = {TRAINED: probabilities(replace(run, edits=Edits()), place)}  # (V,)
    if run.edits != Edits():
        found[CHANGED] = probabilities(run, place)
    drawn = list(found.values())[-1]
    best = drawn.topk(min(TOP, len(drawn))).indices
    bars = {name: values[best].cpu().numpy() for name, values in found.items()}
    chart = probability_bars(bars, [reader.text(index) for index in best.tolist()])
    show(chart, "predictions", of=of, what=f"Likeliest tokens at place {place + 1}")
    if place in run.masked:
        likelihood = drawn[written[place].id]
        rank = int((drawn > likelihood).sum()) + 1
        st.text(f"“{written[place].text}” itself: {likelihood:.4f}, number {rank} of {len(drawn)}")
    st.caption(PREDICTIONS)


def parity(run: BertRun) -> None:
    """Draw a button that measures how far the numbers are from transformers' own, and the measure.

    Masks and switched heads are left out.
    """
    asked = run.number, run.first, run.second
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Same numbers as transformers?", help=PARITY):
            try:
                measured_parity(*asked)
            except Exception as error:  # the folder may be gone, or memory used up
                st.text(f"It could not be compared: {first_line(error)}")
                return
        if measured := measured_parity.kept(*asked):
            same = max(measured) < SAME
            st.badge("Same numbers" if same else "Other numbers", color="green" if same else "red")
            st.caption(
                f"Largest differences: {measured.states:.1e} in the last hidden states, "
                f"{measured.weights:.1e} in the weights of all heads."
            )
