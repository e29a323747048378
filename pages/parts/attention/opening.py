"""What the page opens on while nothing is chosen: an example and a head that show something."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import streamlit as st

from model.library.pieces import as_pieces
from model.trace import Kind, Trace
from pages.shared.controls.opening import open_on
from pages.shared.link import address
from pages.shared.runs.arrays import weights_of
from pages.shared.runs.run import ModelRun
from pages.shared.state import models
from pages.shared.state.catalog import TELLING
from pages.shared.state.choices import (
    KEY,
    LIT,
    PICTURE,
    QUERY,
    SENTENCE,
    put,
)
from pages.shared.state.page import PAGES
from pages.shared.state.slide import slide
from viz.arrays import as_floats

LEAST = 0.3  # of a token's attention: less does not speak for itself
LETTERS = 4  # of a word that stands for something, as a rule
APART = 2  # tokens: heads that look at a neighbour are many, whatever the words are


class Opening(NamedTuple):
    """A weight that speaks for itself; everything counts from 0."""

    kind: Kind
    layer: int
    head: int
    query: int
    key: int


def open_on_a_telling_head() -> None:
    """Choose an example with an opening, once, for a visitor who has chosen nothing.

    A link is a choice, too. The examples that are known to tell something are tried first.
    """
    if slide() or st.session_state.get("opened"):
        return
    st.session_state.opened = True
    asked = dict(st.query_params) or any(map(address.parameters, PAGES.values()))
    for sentence in () if asked else sorted(models.chosen().examples, key=telling_rank):
        if found := opening(ModelRun(sentence).trace):
            open_on(*found[:3])
            lit = {SENTENCE: sentence, PICTURE: "lines", LIT: f"q{found.query + 1}"}
            for choice, value in (lit | {QUERY: found.query, KEY: found.key}).items():
                put(choice, value)
            return


def opening(trace: Trace) -> Opening | None:
    """Return the largest weight between two words of a text that stand for something.

    The tokens of an example may be known to tell something, and then it is theirs. None if no head
    gives the word `LEAST` of its attention, more than any other word.
    """
    kind: Kind = "encoder" if trace.source_tokens else "decoder"
    tokens = as_pieces(trace.source_tokens or trace.target_tokens)
    words = [piece.word for piece in tokens]
    texts = [piece.text if words.count(piece.word) == 1 else "" for piece in tokens]
    weights = [as_floats(layer) for layer in weights_of(trace, kind)]  # of (H, Q, K)
    found = {
        Opening(kind, layer, head, query, key): float(heads[head, query, key])
        for query, key in telling_pairs(texts)
        for layer, heads in enumerate(weights)
        for head in np.flatnonzero(heads[:, query].argmax(axis=-1) == key).tolist()
    }
    best = max(found, key=found.get, default=None)
    return best if best and found[best] >= LEAST else None


def telling_rank(sentence: str) -> int:
    """Return the place of the first pair that may tell something of a sentence among all such."""
    words = sentence.rstrip(".").split()
    ranks = (rank for rank, pair in enumerate(TELLING) if {*pair} <= {*words})
    return next(ranks, len(TELLING))


def telling_pairs(texts: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the queries and the keys that may tell something; parts of words are empty."""
    for query, key in TELLING:
        if {query, key} <= {*texts}:
            yield texts.index(query), texts.index(key)
            return
    places = [place for place, text in enumerate(texts) if stands_for_something(text)]
    for query in places:
        yield from ((query, key) for key in places if abs(query - key) >= APART)


def stands_for_something(text: str) -> bool:
    """Return whether a token is a word of its own, long enough for one that carries meaning."""
    return text.isalpha() and len(text) >= LETTERS
