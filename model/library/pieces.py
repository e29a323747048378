"""Tokens of models of the transformers library, their words, and which of them are drawn."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal, get_args

import numpy as np

from headlight.model.tokenizer import VISIBLE_SPACE
from headlight.model.tokens import Token

Role = Literal["written", "unknown", "mask", "special", "padding"]
BYTE_NAME = re.compile("<0x[0-9A-F]{2}>")
CONTINUES = "##"  # begins a piece of BERT's that continues the previous word
SPACES = (VISIBLE_SPACE, "▁", "Ġ")  # how vocabularies write the space before a word
# Which of two sentences is drawn, or which of them looks at which.
Between = Literal["all", "first", "second", "first to second", "second to first"]
BETWEEN: tuple[Between, ...] = get_args(Between)
SEGMENTS: dict[Between, tuple[int, int]] = {
    "first": (0, 0),
    "second": (1, 1),
    "first to second": (0, 1),
    "second to first": (1, 0),
}


@dataclass(frozen=True)
class Piece(Token):
    """A token of any vocabulary; its role says whether it is special, since ids differ.

    Pieces of one word share its number, which counts from 0 along the line; a special token is its
    own word. A segment is the first sentence, 0, or the second, 1, with its separator; the span
    start:end counts characters of the segment's own text. A mask that hides a token knows the
    token's id; a mask that was typed does not. The token type is the tokenizer's number of the text
    that a token belongs to, for models that read it.
    """

    word: int = 0
    segment: int = 0
    role: Role = "written"
    hides: int | None = None
    token_type: int = 0

    @property
    def is_unknown(self) -> bool:
        return self.role == "unknown"

    @property
    def is_padding(self) -> bool:
        return self.role == "padding"

    @property
    def is_byte(self) -> bool:
        """False: only tokens of this project's models are marked as bytes of a character."""
        return False

    @property
    def is_special(self) -> bool:
        """True if this token represents no written text; a mask represents a written word."""
        return self.role in ("special", "padding")


def as_pieces(tokens: Sequence[Token]) -> list[Piece]:
    """Return tokens as pieces; a token that begins where the last one ends continues its word.

    A token that is only a space begins a word.
    """
    pieces: list[Piece] = []
    for token in tokens:
        if isinstance(token, Piece):
            pieces.append(token)
            continue
        last = pieces[-1] if pieces else None
        is_special = token.is_special
        apart = is_special or token.text == VISIBLE_SPACE
        goes_on = last and not (last.is_special or apart) and last.start <= token.start <= last.end
        word = last.word + (not goes_on) if last else 0
        role = "special" if is_special else "unknown" if token.is_unknown else "written"
        span = token.start, token.end
        role = "padding" if token.is_padding else role
        pieces.append(Piece(token.id, token.text, *span, word, role=role))
    return pieces


def is_of_a_word(piece: Piece) -> bool:
    return not piece.is_special and any(map(str.isalnum, piece.text))


def whole_words(pieces: Sequence[Piece]) -> list[Piece]:
    """Return each word as one piece with the id of its first piece, to label merged weights."""
    words = [list(word) for _, word in groupby(pieces, key=lambda piece: piece.word)]
    return [
        replace(
            word[0],
            text=spelled_out(
                [word[0].text, *(piece.text.removeprefix(CONTINUES) for piece in word[1:])]
            ),
            end=word[-1].end,
        )
        for word in words
    ]


def spelled_out(texts: Sequence[str]) -> str:
    """Return the text of a word's pieces, without a leading space and with bytes as characters."""
    texts = texts[1:] if len(texts) > 1 and texts[0] in SPACES else texts
    parts = (("".join(part), is_byte) for is_byte, part in groupby(texts, key=has_only_bytes))
    return "".join(in_characters(part) if is_byte else part for part, is_byte in parts)


def has_only_bytes(text: str) -> bool:
    """Return whether a token's text is the names of bytes, such as <0xC3>."""
    return bool(text) and not BYTE_NAME.sub("", text)


def in_characters(names: str) -> str:
    """Return the characters that bytes encode, or the bytes' names if they are not printable."""
    spelled = bytes.fromhex(names.replace("<0x", "").replace(">", "")).decode(errors="replace")
    return spelled if spelled.isprintable() and "\ufffd" not in spelled else names


def merge_words(
    weights: np.ndarray, words: Sequence[int], key_words: Sequence[int] | None = None
) -> np.ndarray:
    """Merge weights (..., Q, K) of pieces into those of words: sums over keys, means over queries.

    A query's weight on a word is the sum over the word's pieces, and a word's row is the mean of
    its pieces' rows, so that rows still sum to 1. `words` has the word's number for each query, and
    for each key unless `key_words` does; the pieces of a word are consecutive.
    """
    query_starts, counts = word_starts(words)
    key_starts, _ = word_starts(words if key_words is None else key_words)
    summed = np.add.reduceat(np.asarray(weights), key_starts, axis=-1)
    return np.add.reduceat(summed, query_starts, axis=-2) / counts[:, None].astype(summed.dtype)


def word_starts(words: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the index of each word's first piece, and the number of its pieces."""
    changes = np.flatnonzero(np.diff(np.asarray(words))) + 1
    starts = np.concatenate([[0], changes])
    return starts, np.diff(np.concatenate([starts, [len(words)]]))


@dataclass(frozen=True)
class Selection:
    """The rows and columns of a run's weights that are drawn.

    `rows` and `columns` are the positions of the queries and keys that are drawn. With `words`,
    pieces are merged to words; with `scaled`, every drawn row is divided by its sum.
    """

    queries: Sequence[Piece]  # all queries of the run, drawn or not
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
        return len(self.rows) < len(self.queries) or len(self.columns) < len(self.keys)

    @property
    def shown_queries(self) -> list[Piece]:
        """The tokens, or words, of the rows that are drawn."""
        return self.shown(self.queries, self.rows)

    @property
    def shown_keys(self) -> list[Piece]:
        """The tokens, or words, of the columns that are drawn."""
        return self.shown(self.keys, self.columns)

    def shown(self, pieces: Sequence[Piece], positions: Sequence[int]) -> list[Piece]:
        """Return the pieces at these positions, or the words that they form."""
        kept = [pieces[position] for position in positions]
        return whole_words(kept) if self.words else kept

    def of(self, weights: np.ndarray) -> np.ndarray:
        """Return the drawn part of a run's weights (..., Q, K), by words and scaled if chosen.

        A scaled row that sums to 0 stays 0.
        """
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

    def positions(self, row: int, column: int) -> tuple[list[int], list[int]]:
        """Return the positions of the query's and the key's pieces that a drawn cell represents."""
        return (
            self.behind(self.queries, self.rows, row),
            self.behind(self.keys, self.columns, column),
        )

    def behind(self, pieces: Sequence[Piece], positions: Sequence[int], drawn: int) -> list[int]:
        """Return the positions of the pieces that a drawn row or column represents."""
        if not self.words:
            return [positions[drawn]]
        starts, counts = word_starts([pieces[position].word for position in positions])
        return list(positions[starts[drawn] : starts[drawn] + counts[drawn]])


def select(
    queries: Sequence[Piece],
    keys: Sequence[Piece],
    *,
    between: Between = "all",
    special: bool = True,
    words: bool = False,
    scaled: bool = False,
) -> Selection:
    """Return a selection of one sentence or both, with or without their `special` tokens."""
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
        position
        for position, piece in enumerate(pieces)
        if segment in (None, piece.segment) and (special or not piece.is_special)
    )


def written_by(
    append: Callable[[str, Sequence[Any], int], tuple[str, Piece]],
    ids: Sequence[int],
    before: Sequence[Any] = (),
) -> tuple[str, list[Piece]]:
    """Return the text of ids that follow other tokens, and the piece of each id.

    `append` returns a text with one more id, and that id's piece.
    """
    text, pieces = "", list(before)
    for index in ids:
        text, piece = append(text, pieces, index)
        pieces.append(piece)
    return text, pieces[len(before) :]


def as_slice(positions: Sequence[int]) -> slice | list[int]:
    """Return positions as a slice if they are consecutive: indexing by a slice copies nothing."""
    if positions and positions[-1] - positions[0] == len(positions) - 1:
        return slice(positions[0], positions[-1] + 1)
    return list(positions)
