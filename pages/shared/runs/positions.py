"""What translators do if their positions are changed, and the positions that they learned."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
import torch

from model import Translation
from model.insight.permutation import permutation_differences, shuffled
from model.insight.scoring import trace_log_probabilities
from model.library.bert_reader import BertReader
from model.tokens import Token
from model.trace import PositionEdit, Side, Trace
from pages.shared.runs.arrays import as_array
from pages.shared.runs.door import model_call
from pages.shared.runs.shelf import mine, shelf
from pages.shared.runs.translator import translated, translator

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


@model_call("Translating …")
def repositioned(
    sentence: str, encoder: PositionEdit, decoder: PositionEdit, name: str
) -> Translation:
    """Return the translation if the tokens are said to stand elsewhere; not to be modified."""
    edits = {"encoder": encoder, "decoder": decoder}
    return translator(name).translate(sentence, edits=edits)


@model_call("Reading …")
def retraced(sentence: str, encoder: PositionEdit, decoder: PositionEdit, name: str) -> Trace:
    """Return every head while the decoder reads the translation as trained; not to be modified."""
    edits = {"encoder": encoder, "decoder": decoder}
    return translator(name).trace(sentence, translated(sentence, name=name), edits=edits)


@model_call("Shuffling …")
def shuffle(sentence: str, seed: int, name: str) -> Shuffle:
    """Shuffle the words of a sentence; the end token stays last. Not to be modified."""
    reader = translator(name)
    tokens = reader.read(sentence)
    order = (*shuffled(len(tokens) - 1, seed), len(tokens) - 1)
    ids = reader.ids(tokens)
    off, trained = (
        as_array(permutation_differences(reader.model, ids, order, edit))
        for edit in (PositionEdit(off=True), PositionEdit())
    )
    with torch.inference_mode():
        largest = reader.model.encode(ids).abs().max().item()
    return Shuffle([tokens[place] for place in order], order, off, trained, largest)


@model_call("Shifting …")
def scores_by_shift(sentence: str, name: str) -> list[float]:
    """Return how likely a model finds its translation with both sides shifted by each of SHIFTS.

    It is the mean log-probability of a token in nats; NaN if the model has no such positions.
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
    """Return the learned positions of a side (positions, d_model)."""
    part = getattr(translator(LEARNED).model, side)
    return as_array(part.embedding.positions.table)


def library_tables(named: str = "") -> dict[str, np.ndarray]:
    """Return the learned positions of BERTs in memory, by name: this visitor's, and the one named.

    Left out are those of an odd width: sinusoids, which they are compared with, come in pairs.
    """
    loaded = [*mine(), *filter(None, [shelf().get(named)])]
    tables = {
        one.name: as_array(one.model.model.positions.table)
        for one in loaded
        if isinstance(one.model, BertReader)
    }
    return {name: table for name, table in tables.items() if table.shape[1] % 2 == 0}
