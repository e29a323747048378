"""The tokens of a run that a picture shows, as pieces or as whole words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from model.library.pieces import Piece, merge_words, whole_words, word_starts

# With two sentences: the one that looks, and the one that is looked at.
Between = Literal["all", "first", "second", "first to second", "second to first"]
BETWEEN: tuple[Between, ...] = get_args(Between)
SEGMENTS: dict[Between, tuple[int, int]] = {
    "first": (0, 0),
    "second": (1, 1),
    "first to second": (0, 1),
    "second to first": (1, 0),
}


@dataclass(frozen=True)
class Selection:
    """The rows and columns of a run's weights that are drawn.

    `rows` and `columns` are the positions of the pieces that are kept; `scaled` divides every drawn
    row by its sum.
    """

    queries: Sequence[Piece]  # all that the run read
    keys: Sequence[Piece]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    words: bool = False
    scaled: bool = False

    @property
    def is_empty(self) -> bool:
        return not self.rows or not self.columns

    @property
    def hides(self) -> bool:
        """Whether any token is left out."""
        return len(self.rows) < len(self.queries) or len(self.columns) < len(self.keys)

    @property
    def shown_queries(self) -> list[Piece]:
        """The tokens, or words, of the rows that are drawn."""
        return self.shown(self.queries, self.rows)

    @property
    def shown_keys(self) -> list[Piece]:
        """The tokens, or words, of the columns that are drawn."""
        return self.shown(self.keys, self.columns)

    def shown(self, pieces: Sequence[Piece], places: Sequence[int]) -> list[Piece]:
        """Return the pieces at these positions, or the words that they form."""
        kept = [pieces[place] for place in places]
        return whole_words(kept) if self.words else kept

    def of(self, weights: np.ndarray) -> np.ndarray:
        """Return a run's weights (..., Q, K) as they are drawn; a row that sums to 0 stays 0."""
        chosen = weights[..., as_slice(self.rows), :][..., as_slice(self.columns)]
        if self.words:
            chosen = merge_words(
                chosen,
                [self.queries[row].word for row in self.rows],
                [self.keys[column].word for column in self.columns],
            )
        if self.scaled:
            sums = chosen.sum(axis=-1, keepdims=True)
            chosen = chosen / np.where(sums == 0, 1, sums)
        return chosen

    def largest_of(self, weights: np.ndarray) -> np.ndarray:
        """Return the largest of the weights (Q, K) that each drawn cell represents."""
        chosen = weights[as_slice(self.rows), :][:, as_slice(self.columns)]
        if not self.words:
            return chosen
        rows, _ = word_starts([self.queries[row].word for row in self.rows])
        columns, _ = word_starts([self.keys[column].word for column in self.columns])
        return np.maximum.reduceat(np.maximum.reduceat(chosen, rows, axis=0), columns, axis=1)

    def places(self, row: int, column: int) -> tuple[list[int], list[int]]:
        """Return the positions of the query's and the key's pieces that a drawn cell represents."""
        return (
            self.behind(self.queries, self.rows, row),
            self.behind(self.keys, self.columns, column),
        )

    def behind(self, pieces: Sequence[Piece], places: Sequence[int], drawn: int) -> list[int]:
        """Return the positions of the pieces that a drawn row or column represents."""
        if not self.words:
            return [places[drawn]]
        starts, counts = word_starts([pieces[place].word for place in places])
        return list(places[starts[drawn] : starts[drawn] + counts[drawn]])


def select(
    queries: Sequence[Piece],
    keys: Sequence[Piece],
    *,
    between: Between = "all",
    special: bool = True,
    words: bool = False,
    scaled: bool = False,
) -> Selection:
    """Return the tokens of one sentence or both, with or without their `special` tokens."""
    looking, looked_at = SEGMENTS.get(between, (None, None))
    return Selection(
        queries,
        keys,
        kept(queries, looking, special),
        kept(keys, looked_at, special),
        words,
        scaled,
    )


def kept(pieces: Sequence[Piece], segment: int | None, special: bool) -> tuple[int, ...]:
    """Return the positions of one or both sentences' pieces, with or without `special` ones."""
    return tuple(
        place
        for place, piece in enumerate(pieces)
        if segment in (None, piece.segment) and (special or not piece.is_special)
    )


def as_slice(places: Sequence[int]) -> slice | list[int]:
    """Return positions as a slice if they are consecutive, so that no copy is made."""
    if places and places[-1] - places[0] == len(places) - 1:
        return slice(places[0], places[-1] + 1)
    return list(places)
