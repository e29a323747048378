"""Sides of the page Compare that show a model of the transformers library, such as a BERT."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

from model.edits import Edits, read_edits
from model.library.bert_reader import BertReader
from model.library.transformers_model import Attentions
from model.trace import Kind, Trace
from pages.parts.compare.words import NOT_LOADED
from pages.shared.link import address
from pages.shared.runs.arrays import heads_meant, one_head
from pages.shared.runs.library import attended, layers_of, masked_places, read
from pages.shared.runs.shelf import Loaded, shelf
from pages.shared.state import scene
from pages.shared.state.scene import Scene

FIELDS = (
    "bert_name", "bert_kind", "bert_layer", "bert_head", "bert_masked", "bert_edits",
    "bert_first", "bert_second", "bert_target",
)  # fmt: skip


def is_other(side: Scene) -> bool:
    """Whether a side shows a model of the transformers library."""
    return bool(side.bert_name)


def loaded(side: Scene) -> Loaded:
    """The model of a side; raises ValueError where it is not in memory."""
    found = shelf().get(side.bert_name)
    if found is None:
        raise ValueError(NOT_LOADED.format(name=side.bert_name))
    return found


def text_of(side: Scene) -> str:
    """What the model of a side reads, as one text."""
    return " / ".join(filter(None, (side.bert_first, side.bert_second)))


def edits_of(side: Scene) -> Edits:
    """The heads that are switched on a side, of those that its model has."""
    model = loaded(side).model
    if not isinstance(model, BertReader):
        return Edits()
    try:
        return read_edits(side.bert_edits, model.model.config)
    except ValueError:
        return Edits()


def run_of(side: Scene) -> Trace | Attentions:
    """Every head on a side's text; raises ValueError where the model cannot read it."""
    found = loaded(side)
    if not isinstance(found.model, BertReader):
        return attended(found, side.bert_first, side.bert_target or None)
    first, second = side.bert_first, side.bert_second if found.model.takes_pairs else ""
    places = masked_places(found.model, first, second, side.bert_masked)
    return read(found, first, second, places, edits_of(side))


def kinds(side: Scene) -> Sequence[Kind]:
    """The kinds of attention that the model of a side has."""
    model = loaded(side).model
    return ("encoder",) if isinstance(model, BertReader) else model.kinds


def layers(side: Scene) -> list[np.ndarray]:
    """The weights (H, Q, K) of every layer; raises ValueError where there is no run."""
    return layers_of(run_of(side), side.bert_kind)


def fitted(side: Scene) -> Scene:
    """The side with a kind, a layer and a head that its model has, as far as that is known."""
    try:
        changed = edits_of(side) != Edits()
        if side.bert_kind not in kinds(side):
            side = replace(side, bert_kind=kinds(side)[0])
        found = layers(side)
    except ValueError:
        return side
    if side.bert_edits and not changed:
        st.session_state.refused_parameters = ("bert_edits",)
        side = replace(side, bert_edits="")
    if side.bert_layer not in scene.head_names(len(found)):
        side = replace(side, bert_layer="1")
    if side.bert_head not in scene.head_names(len(found[0])):
        side = replace(side, bert_head=scene.SUMMARIES[0])
    return side


def weights_of(side: Scene) -> np.ndarray:
    """The weights (Q, K) of the layer and head chosen, each a number, a mean or a maximum."""
    found = layers(side)
    heads = [
        one_head(found[place], side.bert_head) for place in heads_meant(side.bert_layer, len(found))
    ]
    return one_head(np.stack(heads), side.bert_layer) if len(heads) > 1 else heads[0]


def tokens_of(side: Scene) -> tuple[list[str], list[str]]:
    """The tokens of the queries and of the keys."""
    run = run_of(side)
    if isinstance(run, Attentions):
        axes = run.query_tokens(side.bert_kind), run.key_tokens(side.bert_kind)
    else:
        axes = run.source_tokens, run.source_tokens
    queries, keys = ([piece.text for piece in axis] for axis in axes)
    return queries, keys


def decoder_reads(side: Scene) -> list[str]:
    """The tokens that the decoder of a side reads; none where it has no decoder of its own."""
    run = run_of(side)
    pieces = run.target_tokens if isinstance(run, Attentions) else ()
    return [piece.text for piece in pieces]


def elsewhere() -> Scene | None:
    """What the page BERT and others shows now; None where its model is not in memory."""
    now = address.current()
    shown = Scene(**{name: getattr(now, name) for name in FIELDS})
    return shown if shelf().get(now.bert_name) else None
