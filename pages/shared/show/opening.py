"""Choose the example and the head to begin with, for a visitor who has chosen nothing."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import streamlit as st

from headlight.model.library.pieces import as_pieces
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Kind, Site
from headlight.pages.shared import address
from headlight.pages.shared.runs.arrays import weights_of
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.cells import choose_for_visitor
from headlight.pages.shared.state import models
from headlight.pages.shared.state.choices import LIT, PICTURE, SENTENCE, open_on, put
from headlight.pages.shared.state.models import TELLING
from headlight.pages.shared.state.page import PAGES
from headlight.pages.shared.state.showing import showing
from headlight.viz.arrays import as_floats

LEAST = 0.3  # the smallest weight that is clear enough to begin with
LETTERS = 4  # words of this length or more usually carry meaning
APART = 2  # the smallest distance in tokens: many heads look at neighbours, whatever the words are


class ClearWeight(NamedTuple):
    """The address of a weight that is easy to understand; all numbers count from 0."""

    kind: Kind
    layer: int
    head: int
    query: int
    key: int


def open_on_a_telling_head() -> None:
    """Choose an example and a head with a clear weight, for a visitor who has chosen nothing.

    This is done once in a session, and not if a link was opened. Examples with a known pair of
    related words are tried first.
    """
    if showing().scene() is not None or st.session_state.get("opened"):
        return
    st.session_state.opened = True
    is_chosen = dict(st.query_params) or any(map(address.parameters, PAGES.values()))
    for sentence in () if is_chosen else sorted(models.chosen().examples, key=telling_rank):
        trace = ModelRun(sentence).trace()
        if best := opening(trace):
            open_on(*best[:3])
            lit = {SENTENCE: sentence, PICTURE: "lines", LIT: f"q{best.query + 1}"}
            for choice, value in lit.items():
                put(choice, value)
            site = Site(best.kind, best.layer)
            choose_for_visitor(trace, site, best.head, best.query, best.key)
            return


def opening(trace: Trace) -> ClearWeight | None:
    """Return the address of the largest weight between two meaningful words of a text.

    If the text has a pair of words that is known to be related, only this pair is looked at. The
    weight must be the largest of its row and at least `LEAST`. Return None if there is none.
    """
    kind: Kind = "encoder" if trace.source_tokens else "decoder"
    tokens = as_pieces(trace.source_tokens or trace.target_tokens)
    words = [piece.word for piece in tokens]
    texts = [piece.text if words.count(piece.word) == 1 else "" for piece in tokens]
    weights = [as_floats(layer) for layer in weights_of(trace, kind)]  # (H, Q, K) each
    strengths = {
        ClearWeight(kind, layer, head, query, key): float(heads[head, query, key])
        for query, key in telling_pairs(texts)
        for layer, heads in enumerate(weights)
        for head in np.flatnonzero(heads[:, query].argmax(axis=-1) == key).tolist()
    }
    best = max(strengths, key=strengths.__getitem__, default=None)
    return best if best and strengths[best] >= LEAST else None


def telling_rank(sentence: str) -> int:
    """Return the index in `TELLING` of a pair of words in a sentence, or len(TELLING) if none."""
    words = sentence.rstrip(".").split()
    ranks = (rank for rank, pair in enumerate(TELLING) if {*pair} <= {*words})
    return next(ranks, len(TELLING))


def telling_pairs(texts: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the query and key of each pair of meaningful words; `texts` has "" for word pieces."""
    for query, key in TELLING:
        if {query, key} <= {*texts}:
            yield texts.index(query), texts.index(key)
            return
    places = [index for index, text in enumerate(texts) if stands_for_something(text)]
    for query in places:
        yield from ((query, key) for key in places if abs(query - key) >= APART)


def stands_for_something(text: str) -> bool:
    return text.isalpha() and len(text) >= LETTERS
