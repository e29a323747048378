"""What the models do where positions are changed, and the tables they add, cached."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
import streamlit as st
import torch

from model import Translation
from model.insight.permutation import permutation_differences, shuffled
from model.insight.scoring import trace_log_probabilities
from model.tokens import Token
from model.trace import PositionEdit, Side, Trace
from model.training.position_counts import POSITION_COUNTS, load_position_counts
from model.translator import PRETRAINED
from pages.shared.runs.translator import KEPT, translated, translator
from pages.shared.state.models import DEFAULT

LEARNED = "en-fr-learned"  # small, with a learned table of positions on either side
SHIFTS = (0, 1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 224, 256, 384, 512)


@dataclass(frozen=True)
class Shuffle:
    """The tokens of a sentence in another order, and what that does to the encoder's outputs."""

    tokens: list[Token]  # in the new order
    order: tuple[int, ...]  # where each of them stood
    without_positions: np.ndarray  # the largest difference of each token's output
    with_positions: np.ndarray
    largest_output: float


@st.cache_resource(show_spinner="Translating …", **KEPT)
def repositioned(
    sentence: str, encoder: PositionEdit, decoder: PositionEdit, name: str
) -> Translation:
    """The translation where the tokens are said to stand elsewhere; not to be modified."""
    edits = {"encoder": encoder, "decoder": decoder}
    return translator(name).translate(sentence, edits=edits)


@st.cache_resource(show_spinner="Reading …", **KEPT)
def retraced(sentence: str, encoder: PositionEdit, decoder: PositionEdit, name: str) -> Trace:
    """Every head while the decoder reads the translation as trained; not to be modified."""
    edits = {"encoder": encoder, "decoder": decoder}
    return translator(name).trace(sentence, translated(sentence), edits=edits)


@st.cache_resource(show_spinner="Shuffling …", **KEPT)
def shuffle(sentence: str, seed: int, name: str) -> Shuffle:
    """Shuffle the words of a sentence; the end token stays last. Not to be modified."""
    reader = translator(name)
    tokens = reader.read(sentence)
    order = (*shuffled(len(tokens) - 1, seed), len(tokens) - 1)
    ids = reader.ids(tokens)
    off, trained = (
        permutation_differences(reader.model, ids, order, edit).cpu().numpy()
        for edit in (PositionEdit(off=True), PositionEdit())
    )
    with torch.inference_mode():
        largest = reader.model.encode(ids).abs().max().item()
    return Shuffle([tokens[place] for place in order], order, off, trained, largest)


@st.cache_resource(show_spinner="Shifting …", **KEPT)
def scores_by_shift(sentence: str, name: str) -> list[float]:
    """How likely a model finds its own translation with both sides shifted by each of SHIFTS.

    The mean log-probability of a token in nats; NaN where the model has no such positions.
    """
    reader = translator(name)
    written = reader.translate(sentence)
    scores = []
    for shift in SHIFTS:
        edit = PositionEdit(shift=shift)
        try:
            trace = reader.trace(sentence, written, edits={"encoder": edit, "decoder": edit})
            scores.append(trace_log_probabilities(trace).mean().item())
        except ValueError:
            scores.append(nan)
    return scores


def learned_table(side: Side) -> np.ndarray:
    """The learned positions of a side (positions, d_model)."""
    part = getattr(translator(LEARNED).model, side)
    return part.embedding.positions.table.detach().cpu().numpy()


@st.cache_data(show_spinner=False)
def trained_pairs(name: str) -> dict[Side, list[int]]:
    """How many training pairs of a shipped model have a token at each position."""
    return load_position_counts(PRETRAINED / name / POSITION_COUNTS)


def trained_up_to(side: Side, name: str = DEFAULT) -> tuple[int, int]:
    """The last position that any training pair reached, and the last that 1 in 1,000 reached."""
    counts = trained_pairs(name)[side]
    return tuple(sum(count > least for count in counts) - 1 for least in (0, counts[0] / 1_000))
