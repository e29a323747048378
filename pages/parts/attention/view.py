"""What of a run's heads is drawn: which tokens, as pieces or as words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import streamlit as st

from model.library.pieces import as_pieces
from model.library.selection import Selection, select
from model.trace import Kind, Site
from pages.parts.attention.choices import BETWEEN, READS, ROWS, SPECIAL, UNITS
from pages.parts.attention.words import SCALED, SELECTED, WORDS_RULE
from pages.shared.runs.arrays import as_array, blocked_cells, heads_meant, one_head, weights_of
from pages.shared.runs.run import ModelRun
from pages.shared.show.labels import labels_of
from pages.shared.state.choices import SUMMARIES, Head, chosen
from pages.shared.widgets.choose import choose
from viz import Behind

Cell = tuple[int, int, int, int]  # layer, head, query and key of one weight, from 0


@dataclass(frozen=True)
class View:
    """All heads of a kind of attention in a run, as they are drawn."""

    run: ModelRun
    kind: Kind
    selection: Selection

    @cached_property
    def layers(self) -> list[np.ndarray]:
        """The weights of the heads of each layer, (H, rows, columns)."""
        return [self.drawn(layer) for layer in weights_of(self.run.trace, self.kind)]

    def drawn(self, weights: np.ndarray) -> np.ndarray:
        """Return weights (..., Q, K) as they are drawn; bytes stay bytes unless they are summed."""
        if weights.dtype == np.uint8 and (self.selection.words or self.selection.scaled):
            weights = as_shares(weights)
        return self.selection.of(weights)

    def large(self, layer: Head, head: Head) -> np.ndarray:
        """Return one head, or a mean or maximum of heads or layers, to be drawn large: (Q, K)."""
        if layer in SUMMARIES:
            layers = weights_of(self.run.trace, self.kind)
            heads = [one_head(self.selection.of(as_shares(one)), head) for one in layers]
            return one_head(np.stack(heads), layer)
        weights = self.run.record(Site(self.kind, layer)).weights[0]
        return one_head(self.selection.of(as_array(weights)), head)

    @property
    def tokens(self) -> tuple[list[str], list[str]]:
        """The labels of the rows and of the columns; a word's row does not say what is written."""
        shown = self.selection
        if shown.words:
            pieces = shown.shown_queries, shown.shown_keys
            return tuple([piece.text for piece in row] for row in pieces)
        queries, keys = labels_of(self.run, self.kind)
        return [queries[row] for row in shown.rows], [keys[column] for column in shown.columns]

    @property
    def row_words(self) -> str:
        """What the label of a decoder's row says, as `reading_of` takes it."""
        if self.selection.words or "cross" not in self.run.reader.shape.kinds:
            return "read"
        given = self.run.target and self.run.target == chosen(READS)
        return "made to write" if given else "writes"

    def blocked(self, layer: Head) -> np.ndarray | None:
        """Return the cells that a layer's mask closes; None if cells stand for several."""
        if self.selection.words or layer in SUMMARIES:
            return None
        return self.selection.of(blocked_cells(self.run.record(Site(self.kind, layer)))) > 0

    def behind(self, layer: Head, head: Head) -> Behind | None:
        """Return the largest weights behind a mean or maximum, and whose they are; else None."""
        if not {layer, head} & {*SUMMARIES}:
            return None
        weights = weights_of(self.run.trace, self.kind)
        heads = heads_meant(head, len(weights[0]))
        places = [(one, other) for one in heads_meant(layer, len(weights)) for other in heads]
        largest, which = None, None
        for number, (one, other) in enumerate(places):
            found = self.selection.largest_of(weights[one][other])
            if largest is None:
                largest, which = found, np.zeros(found.shape, int)
            which[found > largest] = number
            largest = np.maximum(found, largest)
        several = layer in SUMMARIES
        names = [
            f"layer {one + 1}, head {other + 1}" if several else f"head {other + 1}"
            for one, other in places
        ]
        return Behind(as_shares(largest), which, names)

    def strongest(self, layer: Head, head: Head, row: int, column: int) -> Cell:
        """Return the largest weight behind a drawn cell, of all layers and heads that are shown."""
        weights = weights_of(self.run.trace, self.kind)
        layers, heads = heads_meant(layer, len(weights)), heads_meant(head, len(weights[0]))
        queries, keys = self.selection.places(row, column)
        block = np.stack([weights[one][np.ix_(heads, queries, keys)] for one in layers])
        found = np.unravel_index(block.argmax(), block.shape)
        places = zip((layers, heads, queries, keys), found, strict=True)
        return tuple(int(options[place]) for options, place in places)


def as_shares(weights: np.ndarray) -> np.ndarray:
    """Return weights from 0 to 1, be they bytes or not."""
    return weights / np.float32(255) if weights.dtype == np.uint8 else weights


def choose_view(run: ModelRun, kind: Kind) -> View:
    """Draw the choice of the tokens that are drawn, and return what comes of it."""
    site = Site(kind, 0)
    queries, keys = (
        as_pieces(tokens) for tokens in (run.trace.query_tokens(site), run.trace.key_tokens(site))
    )
    with st.popover("Tokens drawn"):
        between = choose(BETWEEN) if any(piece.segment for piece in queries) else "all"
        special, words = choose(SPECIAL) == "shown", choose(UNITS) == "words"
        scaled = choose(ROWS) == "scaled"
    made = select(queries, keys, between=between, special=special, words=words, scaled=scaled)
    return View(run, kind, made)


def view_notes(selection: Selection) -> str:
    """Return what is to be known of the tokens that are drawn."""
    notes = {SELECTED: selection.hides, SCALED: selection.scaled, WORDS_RULE: selection.words}
    return " ".join(note for note, applies in notes.items() if applies)
