"""The heads of a model of the transformers library: what is drawn of a run, and its pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from model.library.pieces import Piece
from model.library.selection import Selection, select
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
    column_of,
    head_at,
    one_in_large,
    with_summaries,
)
from pages.shared.show.saving import About
from pages.shared.state.choices import KINDS, SUMMARIES, Head, chosen, put
from pages.shared.state.library_choices import BERT_HEAD, BERT_LAYER, BERT_PICTURE
from pages.shared.widgets.choose import choose, head_options

Strongest = tuple[int, int, int, int]  # layer, head, query and key of one weight, from 0


@dataclass(frozen=True)
class Run:
    """The weights of every layer of one kind (H, Q, K), and the tokens on their axes."""

    layers: Sequence[np.ndarray]
    queries: Sequence[Piece]
    keys: Sequence[Piece]
    kind: Kind = "encoder"

    @property
    def heads(self) -> int:
        """How many heads a layer has."""
        return len(self.layers[0])

    def strongest(self, queries: list[int], keys: list[int]) -> Strongest:
        """The largest weight of these queries on these keys, in the chosen layer and head.

        Where a mean or maximum is chosen, it is looked for in all that this is made of.
        """
        layers = heads_meant(chosen(BERT_LAYER), len(self.layers))
        heads = heads_meant(chosen(BERT_HEAD), self.heads)
        block = np.stack([self.layers[layer][np.ix_(heads, queries, keys)] for layer in layers])
        layer, head, query, key = np.unravel_index(block.argmax(), block.shape)
        return layers[layer], heads[head], queries[query], keys[key]


def choose_selection(run: Run, paired: bool) -> Selection:
    """The widgets that choose which tokens are drawn, and what the widgets chose."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        between = choose(BETWEEN) if paired else "all"
        special, units, rows = choose(SPECIAL), choose(UNITS), choose(ROWS)
    selection = select(
        run.queries,
        run.keys,
        between=between,
        special=special == "shown",
        words=units == "words",
        scaled=rows == "scaled",
    )
    notes = {SELECTED: selection.hides, SCALED: selection.scaled, WORDS_RULE: selection.words}
    if said := [note for note, applies in notes.items() if applies]:
        st.caption(" ".join(said))
    return selection


def attention(
    run: Run,
    selection: Selection,
    words: str,
    open_cell: Callable[[Strongest], None] | None,
    of: About,
) -> None:
    """All heads of a run, and the chosen one, mean or maximum in large.

    `open_cell` is called with the weight behind a clicked cell, the strongest where it stands for
    several. `words` say what is seen.
    """
    if selection.is_empty:
        st.info(EMPTY)
        return
    maps = with_summaries([selection.of(layer) for layer in run.layers])  # (layers, H + 2, Q, K)
    tokens = [
        [piece.text for piece in pieces]
        for pieces in (selection.shown_queries, selection.shown_keys)
    ]

    def open_drawn(query: int, key: int) -> None:
        open_cell(run.strongest(*selection.places(query, key)))

    left, right = st.columns(2, gap="medium")
    with left:
        all_heads(maps, *tokens, of=of, what=f"{KINDS[run.kind]}, all heads")
    with right:
        detail(run, maps, tokens, words, open_cell and open_drawn, of)


@section
def detail(
    run: Run,
    maps: np.ndarray,
    tokens: list[list[str]],
    words: str,
    open_drawn: OpenCell | None,
    of: About,
) -> None:
    """Draw the choice of a head, and the head in large, of maps (layers, H + 2, Q, K)."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer = choose(BERT_LAYER, head_options(len(run.layers)))
        picture = choose(BERT_PICTURE)
    head = choose(BERT_HEAD, head_options(run.heads))
    column = column_of(head, run.heads)
    selected = None if layer in SUMMARIES else (layer, column)
    overview.selection(selected, lambda *clicked: open_map(run.heads, *clicked))
    what = site_words(run.kind, layer, head)
    drawn = one_head(maps[:, column], layer)
    one_in_large(drawn, *tokens, picture, of=of, what=what, open_cell=open_drawn)
    st.caption(f"{words} {summary_words(layer, head)}")


def summary_words(layer: Head, head: Head) -> str:
    """Return what a mean or a maximum is taken over."""
    words = LAYER_SUMMARIES.get(layer, "") + HEAD_SUMMARIES.get(head, "")
    return f"{words} {NUMBERS_ALONE}" if layer in SUMMARIES else words


def open_map(heads: int, layer: int, column: int) -> None:
    """Choose the layer and head of the clicked map."""
    put(BERT_LAYER, layer)
    put(BERT_HEAD, head_at(column, heads))
