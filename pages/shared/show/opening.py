"""The example and the head on which a page opens while the visitor has chosen nothing."""

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

LEAST = 0.3  # share of a token's attention; less is not clear enough to open on
LETTERS = 4  # the length of a word that carries meaning, as a rule
APART = 2  # tokens: many heads look at a neighbour, whatever the words are


class ClearWeight(NamedTuple):
    """A weight that is clear without an explanation; all indices count from 0."""

    kind: Kind
    layer: int
    head: int
    query: int
    key: int


def open_on_a_telling_head() -> None:
    """Choose an example and a head that show a clear weight, once, if nothing is chosen.

    A link counts as a choice. The examples with a known pair of related words are tried first.
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
    """Return the largest weight between two meaningful words of a text.

    If the text has pairs of words that are known to be related, only these count. None if no head
    gives the key at least `LEAST` of its attention, and more than to any other token.
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
    """Return the rank of a sentence by its known pair of words; sentences without one come last."""
    words = sentence.rstrip(".").split()
    ranks = (rank for rank, pair in enumerate(TELLING) if {*pair} <= {*words})
    return next(ranks, len(TELLING))


def telling_pairs(texts: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the queries and keys of meaningful pairs; pieces of words are empty in `texts`."""
    for query, key in TELLING:
        if {query, key} <= {*texts}:
            yield texts.index(query), texts.index(key)
            return
    places = [index for index, text in enumerate(texts) if stands_for_something(text)]
    for query in places:
        yield from ((query, key) for key in places if abs(query - key) >= APART)


def stands_for_something(text: str) -> bool:
    return text.isalpha() and len(text) >= LETTERS
