"""The heads of a model of the transformers library: what is drawn of a run, and its pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from model.library.pieces import Piece
from model.library.selection import BETWEEN, Selection, select
from model.trace import Kind
from pages.parts.bert.words import (
    BETWEEN_WORDS,
    EMPTY,
    HEAD_SUMMARIES,
    LAYER_SUMMARIES,
    NUMBERS_ALONE,
    SCALED,
    SELECTED,
    WORDS_RULE,
)
from pages.shared.link import address
from pages.shared.runs.arrays import heads_meant, one_head
from pages.shared.show import overview
from pages.shared.show.captions import site_words
from pages.shared.show.cells import OpenCell
from pages.shared.show.overview import all_heads, one_in_large, with_summaries
from pages.shared.state import scene
from pages.shared.widgets.choose import choose, choose_picture

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
        layers = heads_meant(st.session_state.bert_layer, len(self.layers))
        heads = heads_meant(st.session_state.bert_head, self.heads)
        block = np.stack([self.layers[layer][np.ix_(heads, queries, keys)] for layer in layers])
        layer, head, query, key = np.unravel_index(block.argmax(), block.shape)
        return layers[layer], heads[head], queries[query], keys[key]


def choose_selection(run: Run, paired: bool) -> Selection:
    """The widgets that choose which tokens are drawn, and what the widgets chose."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        between = "all"
        if paired:
            between = st.segmented_control(
                "Sentences",
                BETWEEN,
                key="bert_between",
                format_func=BETWEEN_WORDS.get,
                required=True,
                wrap=True,
            )
        special = choose("Special tokens", scene.BERT_CHOICES["bert_special"], "bert_special")
        units = choose("Tokens as", scene.BERT_CHOICES["bert_units"], "bert_units")
        rows = choose("Rows", scene.BERT_CHOICES["bert_rows"], "bert_rows")
    selection = select(
        run.queries,
        run.keys,
        between=between,
        special=special == "shown",
        words=units == "words",
        scaled=rows == "scaled to 1",
    )
    notes = {SELECTED: selection.hides, SCALED: selection.scaled, WORDS_RULE: selection.words}
    if said := [note for note, applies in notes.items() if applies]:
        st.caption(" ".join(said))
    return selection


def attention(
    run: Run, selection: Selection, words: str, open_cell: Callable[[Strongest], None] | None
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
        all_heads(maps, *tokens, save=f"{scene.KINDS[run.kind]}, all heads")
    with right:
        detail(run, maps, tokens, words, open_cell and open_drawn)


@address.fragment
def detail(
    run: Run, maps: np.ndarray, tokens: list[list[str]], words: str, open_drawn: OpenCell | None
) -> None:
    """The choice of a head, and the head in large, of maps (layers, H + 2, Q, K)."""
    heads = scene.head_names(run.heads)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer = choose("Layer", scene.head_names(len(run.layers)), "bert_layer")
        picture = choose_picture("bert_picture")
    head = choose("Head", heads, "bert_head")
    column = heads.index(head)
    place = None if layer in scene.SUMMARIES else (int(layer) - 1, column)
    overview.selection(place, lambda *clicked: open_map(heads, *clicked))
    save = site_words(run.kind, layer, head)
    drawn = one_head(maps[:, column], layer)
    one_in_large(drawn, *tokens, picture, save=save, open_cell=open_drawn)
    st.caption(f"{words} {summary_words(layer, head)}")
    address.publish()


def summary_words(layer: str, head: str) -> str:
    """What a mean or a maximum is taken over."""
    words = LAYER_SUMMARIES.get(layer, "") + HEAD_SUMMARIES.get(head, "")
    return f"{words} {NUMBERS_ALONE}" if layer in scene.SUMMARIES else words


def open_map(heads: Sequence[str], layer: int, column: int) -> None:
    """Go to the layer and head of the clicked map."""
    st.session_state.bert_layer = str(layer + 1)
    st.session_state.bert_head = heads[column]
