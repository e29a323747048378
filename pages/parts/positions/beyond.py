"""Positions that were never trained: the sinusoids go on, the learned table ends."""

from dataclasses import replace

import numpy as np
import streamlit as st

from model.positions import sinusoids
from model.trace import PositionEdit
from pages.parts.positions.tables import LONGEST, show_lines
from pages.parts.positions.words import BEYOND_WORDS
from pages.shared.link.address import section
from pages.shared.runs.arrays import as_array
from pages.shared.runs.positions import (
    LEARNED,
    SHIFTS,
    learned_table,
    shift_scores,
    trained_up_to,
)
from pages.shared.runs.run import ModelRun, written
from pages.shared.show.glossary import caption
from pages.shared.show.pictures import chips_written, show
from pages.shared.show.saving import NO_MODEL, about
from pages.shared.state import catalog, models
from pages.shared.state.choice import number, one_of
from pages.shared.widgets.choose import choose
from viz import token_strip

SHIPPED = {catalog.DEFAULT: "sinusoidal, the shipped model", LEARNED: "learned, the small model"}
DIMENSION = number("positions_dimension", 24, (0, LONGEST - 1), label="Dimension")
FAR = one_of("positions_far", {shift: str(shift) for shift in SHIFTS}, 256, label="k")
CHOICES = (DIMENSION, FAR)


@section
def beyond_section(run: ModelRun) -> None:
    """Draw both tables beyond their training, and the sentence shifted far out."""
    st.subheader("The tables")
    caption(BEYOND_WORDS["formula"])
    both_tables()
    st.subheader("Your sentence, k positions on")
    caption(BEYOND_WORDS["shift"])
    model, sentence = models.named(run.model), run.sentence
    compared = {model.key: model.title} if model.is_own else SHIPPED
    lines = {words: np.array(shift_scores(sentence, name)) for name, words in compared.items()}
    of = about(sentence, model=", ".join(lines))
    what = "Log-probability by how far all positions are shifted"
    show_lines(lines, "shifts", of=of, what=what, places=SHIFTS, x="k", y="nats a token")
    if not model.is_own:
        encoder, decoder = trained_up_to("encoder"), trained_up_to("decoder")
        caption(BEYOND_WORDS["honest"].format(encoder=encoder, decoder=decoder))
    shift = choose(FAR, widget=st.select_slider, width=320)
    for name, words in compared.items():
        translation_at(ModelRun(sentence, model=name), shift, words)


def both_tables() -> None:
    """Draw a dimension of the sinusoids and of a learned table, which ends."""
    table = learned_table("encoder")
    positions, d_model = table.shape
    dimension = choose(DIMENSION, widget=st.slider, max_value=d_model - 1, width=320)
    ended = np.full(LONGEST, np.nan, dtype=np.float32)
    ended[:positions] = table[:, dimension]
    lines = {"sinusoidal": as_array(sinusoids(LONGEST, d_model)[:, dimension]), "learned": ended}
    show_lines(lines, "tables", of=NO_MODEL, what=f"Positions in dimension {dimension}")


def translation_at(run: ModelRun, shift: int, words: str) -> None:
    """Draw what a model, named by `words`, writes if all positions are shifted."""
    edit = PositionEdit(shift=shift)
    try:
        moved = written(replace(run, moved=(edit, edit)))
    except ValueError as error:
        st.text(f"{words.capitalize()}:")  # the words may contain the name of a file
        st.warning(str(error))
        return
    strip = token_strip(moved.text, chips_written(moved), label=words.capitalize())
    of = about(run.sentence, model=words, changes=f"all positions shifted by {shift}")
    show(strip, f"moved {run.model}", of=of, what="Translation at other positions")
