"""The heads of a model of the transformers library: what is drawn of a run, and its pictures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st

from model.library.selection import Selection, select
from model.library.transformers_model import Attentions
from model.trace import Kind
from pages.parts.bert.choices import BETWEEN, ROWS, SPECIAL, UNITS
from pages.parts.bert.words import (
    EMPTY,
    HEAD_SUMMARIES,
    LAYER_SUMMARIES,
    NUMBERS_ALONE,
    SCALED,
    SELECTED,
    WORDS_RULE,
)
from pages.shared.link.address import section
from pages.shared.runs.arrays import heads_meant, one_head
from pages.shared.show import overview
from pages.shared.show.captions import site_words
from pages.shared.show.cells import OpenCell
from pages.shared.show.overview import (
    all_heads,
    one_in_large,
    with_summaries,
)
from pages.shared.show.saving import About
from pages.shared.state.choices import KINDS, SUMMARIES, Head, chosen, put
from pages.shared.state.library_choices import BERT_HEAD, BERT_LAYER, BERT_PICTURE
from pages.shared.widgets.choose import choose, head_options

Strongest = tuple[int, int, int, int]  # layer, head, query and key of one weight, from 0
Open = Callable[[Strongest], None]
Axes = list[list[str]]  # the tokens of the rows and of the columns


def select_head(layer: Head, head: Head) -> None:
    """Choose the head that is shown."""
    put(BERT_LAYER, layer)
    put(BERT_HEAD, head)


def heads_shown(found: Attentions, kind: Kind) -> tuple[list[int], list[int]]:
    """Return the layers and the heads that are chosen: all of them for a mean or a maximum."""
    layers = found.weights[kind]
    layer, head = chosen(BERT_LAYER), chosen(BERT_HEAD)
    return heads_meant(layer, len(layers)), heads_meant(head, len(layers[0]))


def strongest(found: Attentions, kind: Kind, queries: list[int], keys: list[int]) -> Strongest:
    """Return the largest weight of these queries on these keys, in all heads that are shown."""
    layers, heads = heads_shown(found, kind)
    weights = found.weights[kind]
    block = np.stack([weights[layer][np.ix_(heads, queries, keys)] for layer in layers])
    layer, head, query, key = np.unravel_index(block.argmax(), block.shape)
    return layers[layer], heads[head], queries[query], keys[key]


def choose_selection(found: Attentions, kind: Kind) -> Selection:
    """Draw the widgets that choose which tokens are drawn, and return what they chose."""
    queries, keys = found.query_tokens(kind), found.key_tokens(kind)
    paired = any(piece.segment for piece in queries)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        between = choose(BETWEEN) if paired else "all"
        special, words = choose(SPECIAL) == "shown", choose(UNITS) == "words"
        scaled = choose(ROWS) == "scaled"
    made = select(queries, keys, between=between, special=special, words=words, scaled=scaled)
    notes = {SELECTED: made.hides, SCALED: made.scaled, WORDS_RULE: made.words}
    if said := [note for note, applies in notes.items() if applies]:
        st.caption(" ".join(said))
    return made


def attention(found: Attentions, kind: Kind, words: str, open_cell: Open | None, of: About) -> None:
    """Draw all heads of a kind, and the chosen one, mean or maximum in large.

    `open_cell` is called with the weight behind a clicked cell, the strongest where it stands for
    several. `words` say what is seen.
    """
    selection = choose_selection(found, kind)
    if selection.is_empty:
        st.info(EMPTY)
        return
    maps = with_summaries([selection.of(layer) for layer in found.weights[kind]])
    pieces = selection.shown_queries, selection.shown_keys
    tokens = [[piece.text for piece in row] for row in pieces]

    def open_drawn(query: int, key: int) -> None:
        open_cell(strongest(found, kind, *selection.places(query, key)))

    left, right = st.columns(2, gap="medium")
    with left:
        all_heads(maps, *tokens, of=of, what=f"{KINDS[kind]}, all heads")
    with right:
        detail(kind, maps, tokens, words, open_cell and open_drawn, of)


@section
def detail(
    kind: Kind, maps: np.ndarray, tokens: Axes, words: str, open_drawn: OpenCell | None, of: About
) -> None:
    """Draw the choice of a head, and the head in large, of maps (layers, H + 2, Q, K)."""
    layers, heads = head_options(len(maps)), head_options(maps.shape[1] - len(SUMMARIES))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer = choose(BERT_LAYER, layers)
        picture = choose(BERT_PICTURE)
    head = choose(BERT_HEAD, heads)
    column = heads.index(head)
    selected = None if layer in SUMMARIES else (layer, column)
    overview.selection(selected, lambda layer, column: select_head(layer, heads[column]))
    what, drawn = site_words(kind, layer, head), one_head(maps[:, column], layer)
    one_in_large(drawn, *tokens, picture, of=of, what=what, open_cell=open_drawn)
    summary = LAYER_SUMMARIES.get(layer, "") + HEAD_SUMMARIES.get(head, "")
    st.caption(f"{words} {summary} {NUMBERS_ALONE if layer in SUMMARIES else ''}".rstrip())
