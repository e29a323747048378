"""The choice of the tokens that are drawn, and the weights of a run's heads on these tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import streamlit as st
import torch

from headlight.model.insight.doubt import foreign_language
from headlight.model.insight.linking import leading_query
from headlight.model.library.pieces import Between, Piece, Selection, as_pieces, select
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Kind, Site
from headlight.pages.shared.runs.arrays import (
    as_array,
    blocked_cells,
    clearest_cell,
    heads_meant,
    one_head,
    weights_of,
)
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import labels_of
from headlight.pages.shared.show.cells import CellAddress
from headlight.pages.shared.state import models
from headlight.pages.shared.state.choice import one_of, text
from headlight.pages.shared.state.choices import LONGEST_SENTENCE, SUMMARIES, HeadChoice, chosen
from headlight.pages.shared.widgets.choose import choose
from headlight.viz import Behind
from headlight.viz.arrays import as_floats
from headlight.viz.tokens import WRITES

BETWEEN_WORDS: dict[Between, str] = {
    "all": "both",
    "first": "within 1",
    "second": "within 2",
    "first to second": "1 looks at 2",
    "second to first": "2 looks at 1",
}
BETWEEN = one_of("between", BETWEEN_WORDS, label="Sentences")
SPECIAL = one_of("special", {"shown": "shown", "hidden": "hidden"}, label="Special tokens")
UNITS = one_of("units", {"pieces": "pieces", "words": "words"}, label="Tokens as")
ROWS = one_of("rows", {"run": "as in the run", "scaled": "scaled to 1"}, label="Rows")
# The text that the decoder of a translator reads; if empty, the text that the model writes.
READS = text("decoder_text", "", LONGEST_SENTENCE, label="Text that the decoder reads")
CHOICES = (BETWEEN, SPECIAL, UNITS, ROWS, READS)
SELECTED = (
    "Some tokens are not drawn, although the model read them. Where a row sums to less than 1, the "
    "rest went to tokens that are not drawn."
)
SCALED = (
    "Every row is divided by the sum of its drawn weights, so that it sums to 1: these are no "
    "longer the run's own weights."
)
WORDS_RULE = (
    "Pieces are merged to words: the weight on a word is the sum over its pieces, and a word's row "
    "is the mean of its pieces' rows."
)
LAYER_SUMMARIES = {
    "mean": "Shown: the mean, over all layers, of what is chosen under Head.",
    "max": "Shown: cell by cell, the maximum, over all layers, of what is chosen under Head.",
}
NUMBERS_ALONE = (
    "Heads with the same number in two layers have nothing to do with each other: their mean or "
    "maximum over layers only says where the model as a whole looks most."
)
EMPTY = "Nothing is left to draw: show the special tokens, or choose other sentences."


@dataclass(frozen=True)
class View:
    """The weights of all heads of one kind of attention in a run, for the tokens to be drawn."""

    run: ModelRun
    kind: Kind
    selection: Selection

    @cached_property
    def trace(self) -> Trace:
        return self.run.trace()

    @cached_property
    def layers(self) -> list[np.ndarray]:
        """The weights of the heads of each layer, (H, rows, columns)."""
        return [self.drawn(layer) for layer in weights_of(self.trace, self.kind)]

    def drawn(self, weights: np.ndarray) -> np.ndarray:
        """Return the part of weights (..., Q, K) that is drawn, merged or scaled as chosen.

        Weights stored as bytes stay bytes, unless they are merged to words or scaled.
        """
        if weights.dtype == np.uint8 and (self.selection.words or self.selection.scaled):
            weights = as_floats(weights)
        return self.selection.of(weights)

    def large(self, layer: HeadChoice, head: HeadChoice) -> np.ndarray:
        """Return the map (Q, K) of a head, or of a mean or maximum, to be drawn enlarged."""
        if isinstance(layer, str):
            layers = weights_of(self.trace, self.kind)
            heads = [one_head(self.selection.of(as_floats(heads)), head) for heads in layers]
            return one_head(np.stack(heads), layer)
        weights = self.run.record(Site(self.kind, layer)).weights[0]
        return one_head(self.selection.of(as_array(weights)), head)

    @cached_property
    def tokens(self) -> tuple[list[str], list[str]]:
        """The labels of rows and columns. A row of a whole word has only that word as label."""
        shown = self.selection
        if shown.words:
            read, seen = shown.shown_queries, shown.shown_keys
            return [piece.text for piece in read], [piece.text for piece in seen]
        queries, keys = labels_of(self.run, self.kind)
        return [queries[row] for row in shown.rows], [keys[column] for column in shown.columns]

    @property
    def text(self) -> tuple[list[str], list[str] | None, tuple[list[int], list[int]]]:
        """The labels of the queries and of the keys, and the number of each label's word.

        In self-attention both are the same text: first come the labels of the keys, then None.
        """
        shown, (queries, keys) = self.selection, self.tokens
        words = numbers_of_words(shown.keys, shown.columns, keys, shown.words)
        if self.kind != "cross" and shown.rows == shown.columns:
            return keys, None, (words, words)
        rows = numbers_of_words(shown.queries, shown.rows, queries, shown.words)
        return queries, keys, (rows, words)

    @property
    def row_words(self) -> str:
        """The key in `ROW_WORDS` of the words that explain a decoder's rows; see `reading_of`."""
        if self.selection.words or "cross" not in self.run.reader.shape.kinds:
            return "read"
        given = self.run.target and self.run.target == chosen(READS)
        return "made to write" if given else "writes"

    @cached_property
    def lines(self) -> tuple[list[Piece], list[Piece]]:
        """The tokens, or words, of the rows and of the columns."""
        return self.selection.shown_queries, self.selection.shown_keys

    @property
    def is_english(self) -> bool:
        """True if rows and columns are known to be English words."""
        return self.kind == "encoder" and self.keys_are_english

    @cached_property
    def keys_are_english(self) -> bool:
        of_source = self.kind != "decoder" and models.chosen().source == "English"
        return of_source and not foreign_language(self.run.sentence)

    def clearest(self, weights: np.ndarray) -> tuple[str, int]:
        """Return "query" or "key", and the index of the token to point out in a map (Q, K).

        In English it is the query that `leading_query` returns, otherwise the query of
        `clearest_cell`. If there is none, it is the key with the largest mean weight.
        """
        if self.is_english:
            query = leading_query(weights, self.lines[0])
        else:
            query, _ = clearest_cell(weights, *self.lines, self.kind) or (None, None)
        if query is not None:
            return "query", query
        return "key", int(weights.mean(axis=0).argmax())

    def blocked(self, layer: HeadChoice) -> np.ndarray | None:
        """Return a map, true where a layer's mask closes the cell.

        Return None if a drawn cell combines several words' pieces or several layers.
        """
        if self.selection.words or isinstance(layer, str):
            return None
        return self.selection.of(blocked_cells(self.run.record(Site(self.kind, layer)))) > 0

    def sees_as_usual(self, layer: HeadChoice) -> bool:
        """Return whether the mask is the usual one, and the visitor has not changed it.

        With the usual mask every query sees all keys; in a decoder, all keys up to its position.
        """
        trace, shape = self.trace, self.run.reader.shape
        for index in heads_meant(layer, shape.layers(self.kind)):
            site = Site(self.kind, index)
            visible = trace.visible(site)
            usual = torch.ones_like(visible)
            if not torch.equal(visible, usual.tril() if self.kind == "decoder" else usual):
                return False
            edit = self.run.edits.at_site(site, shape.heads(self.kind), trace.longest)
            if any(part is not None for part in (edit.block, edit.open, edit.bias)):
                return False
        return True

    def behind(self, layer: HeadChoice, head: HeadChoice) -> Behind | None:
        """Return the largest weight behind each cell of a mean or maximum, and the head it is from.

        Return None for a single head.
        """
        if not {layer, head} & {*SUMMARIES}:
            return None
        weights = weights_of(self.trace, self.kind)
        heads = heads_meant(head, len(weights[0]))
        maps = [(layer, head) for layer in heads_meant(layer, len(weights)) for head in heads]
        largest = self.selection.largest_of(weights[maps[0][0]][maps[0][1]])
        which = np.zeros(largest.shape, int)
        for number, (index, head) in enumerate(maps[1:], start=1):
            cells = self.selection.largest_of(weights[index][head])
            which[cells > largest] = number
            largest = np.maximum(cells, largest)
        several = layer in SUMMARIES
        names = [
            f"layer {index + 1}, head {head + 1}" if several else f"head {head + 1}"
            for index, head in maps
        ]
        return Behind(as_floats(largest), which, names)

    def strongest(self, layer: HeadChoice, head: HeadChoice, row: int, column: int) -> CellAddress:
        """Return the address of the largest of all the weights that a drawn cell combines."""
        weights = weights_of(self.trace, self.kind)
        layers, heads = heads_meant(layer, len(weights)), heads_meant(head, len(weights[0]))
        queries, keys = self.selection.positions(row, column)
        block = np.stack([weights[index][np.ix_(heads, queries, keys)] for index in layers])
        at = np.unravel_index(block.argmax(), block.shape)
        return self.kind, layers[at[0]], heads[at[1]], int(queries[at[2]]), int(keys[at[3]])


def numbers_of_words(
    pieces: Sequence[Piece], places: Sequence[int], labels: Sequence[str], are_words: bool
) -> list[int]:
    """Return for each label the number of the word that it belongs to.

    If the labels `are_words`, they are numbered in order. A label "read → written" belongs to the
    word of the written token, the piece after the read one.
    """
    if are_words:
        return [*range(len(labels))]
    # The last row's written token is the end token, which belongs to no word.
    words = [*(piece.word for piece in pieces), -1]
    return [words[place + (WRITES in label)] for place, label in zip(places, labels, strict=True)]


def choose_view(run: ModelRun, kind: Kind) -> View:
    """Draw the choice of the tokens to be drawn, and return the view of the chosen tokens."""
    site, trace = Site(kind, 0), run.trace()
    queries = as_pieces(trace.query_tokens(site))
    keys = queries if kind != "cross" else as_pieces(trace.key_tokens(site))
    with st.popover("Tokens drawn"):
        between = choose(BETWEEN) if any(piece.segment for piece in queries) else "all"
        special, words = choose(SPECIAL) == "shown", choose(UNITS) == "words"
        scaled = choose(ROWS) == "scaled"
    made = select(queries, keys, between=between, special=special, words=words, scaled=scaled)
    return View(run, kind, made)


def view_notes(selection: Selection) -> str:
    notes = {SELECTED: selection.hides, SCALED: selection.scaled, WORDS_RULE: selection.words}
    return " ".join(note for note, applies in notes.items() if applies)
