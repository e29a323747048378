"""The model calls of the page Positions: shuffled words, shifts, rotations, learned tables."""

import numpy as np
import streamlit as st

from headlight.model.checkpoint import POSITION_COUNTS, load_position_counts
from headlight.model.insight.anatomy import Weight
from headlight.model.insight.scoring import scores_by_shift
from headlight.model.transformer.trace import Side
from headlight.model.translator import PRETRAINED
from headlight.pages.parts.positions.effects import Shuffle, Turning, shuffle_words, turning
from headlight.pages.shared.runs.arrays import as_array
from headlight.pages.shared.runs.door import model_call
from headlight.pages.shared.runs.readers import translator
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.runs.shelf import shelf
from headlight.pages.shared.state import models
from headlight.pages.shared.state.models import DEFAULT

LEARNED = "en-fr-learned"  # a small model, with a learned table in encoder and decoder
FARTHEST = 128  # the largest distance, in tokens, between a query and a key
SHIFTS = (0, 1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 224, 256, 384, 512)


@model_call("Shuffling …")
def shuffle(sentence: str, seed: int, name: str) -> Shuffle:
    """Return a sentence's tokens in another order, and the effect; see `shuffle_words`.

    The result must not be modified.
    """
    return shuffle_words(translator(name), sentence, seed)


@model_call("Shifting …")
def shift_scores(run: ModelRun) -> list[float]:
    """Return how well a run's text is predicted with positions shifted by each of `SHIFTS`.

    See `scores_by_shift`. The list is empty if the run has nothing that can be measured.
    """
    objective = run.objective()
    return scores_by_shift(run.reader, run.trace(), objective, SHIFTS) if objective else []


@model_call()
def turned(weight: Weight) -> Turning:
    """Return a weight's query and key before and after rotation, and their score by distance."""
    return turning(weight, FARTHEST)


def learned_table(side: Side) -> np.ndarray:
    """Return the learned position table (positions, d_model) of the small model's `side`."""
    part = getattr(translator(LEARNED).model, side)
    return as_array(part.embedding.positions.table)


def library_tables(named: str = "") -> dict[str, np.ndarray]:
    """Return the learned position tables of transformers models, by the models' names.

    They are the loaded models of this visitor's list, the chosen one first, and the model `named`.
    Tables of an odd width are left out, because the sinusoids drawn next to them come in pairs.
    """
    listed = [models.chosen(), *models.choices().values()]
    names = [entry.name for entry in listed if entry.is_library]
    loaded = filter(None, map(shelf().get, dict.fromkeys([*names, named])))
    tables = {each.name: each.reader.position_table for each in loaded}
    known = {name: as_array(table) for name, table in tables.items() if table is not None}
    return {name: table for name, table in known.items() if table.shape[1] % 2 == 0}


@st.cache_data(show_spinner=False)
def trained_pairs(name: str) -> dict[Side, list[int]]:
    """Return how many training pairs of a shipped model have a token at each position."""
    return load_position_counts(PRETRAINED / name / POSITION_COUNTS)


def trained_up_to(side: Side, name: str = DEFAULT) -> tuple[int, int]:
    """Return the last position that any training pair reaches, and the last that 0.1 % reach."""
    counts = trained_pairs(name)[side]
    last, common = (sum(count > least for count in counts) - 1 for least in (0, counts[0] / 1_000))
    return last, common
