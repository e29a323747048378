"""Split texts into pieces, and join them again, by any tokenizer of the transformers library."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import prod
from threading import Lock
from typing import TYPE_CHECKING, Any

import tokenizers

from headlight.model.library.checks import check_ids, tokenizing
from headlight.model.library.pieces import SPACES, Piece
from headlight.model.library.vocabulary import Vocabulary, label_of
from headlight.model.tokens import check_characters

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

TEXTS = ("text", "text_pair", "text_target")  # the options of a tokenizer's call that are texts
NO_PADDING = "This model has no token for padding."
MOST_PAIRS = 1_000  # the most pairs of parts into which the library may cut two long texts


class PieceTokenizer(Vocabulary):
    """A tokenizer that gives at most `max_tokens` pieces, including special ones.

    `known` is the number of tokens that its model knows; by default, all of the tokenizer's.
    """

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, max_tokens: int, known: int | None = None
    ) -> None:
        super().__init__(tokenizer)
        self.max_tokens = max_tokens
        self.known = self.size if known is None else known
        # held during a call, which may change the tokenizer's language or truncation
        self.tokenizing = Lock()

    @property
    def mask_id(self) -> int | None:
        """The id of the token that hides another token, if any."""
        return self.tokenizer.mask_token_id

    @property
    def pad_id(self) -> int | None:
        """The id of the token that pads a text; None if there is none, or if it also ends texts."""
        pad_id = self.tokenizer.pad_token_id
        return None if pad_id == self.tokenizer.eos_token_id else pad_id

    @property
    def takes_pairs(self) -> bool:
        count = self.tokenizer.num_special_tokens_to_add
        return self.tokenizer.is_fast and count(pair=True) > count(pair=False)

    def framed(self, ids: Sequence[int]) -> list[Piece]:
        """Return the pieces of ids, with the special tokens that surround every text."""
        around = self.pieces(text="a")
        text = [index for index, piece in enumerate(around) if not piece.is_special]
        before, after = around[: text[0]], around[text[-1] + 1 :]
        return [*before, *self.written(ids, before)[1], *after]

    def read(self, text: str, second: str | None = None) -> list[Piece]:
        """Return the pieces of one or two texts, cut to `max_tokens`.

        A text that is cut keeps its end token, if it has one; the longer of two texts is cut first.
        """
        if second is None:
            return self.cut(self.pieces(text=text))
        text, second = self.shortened(text, second)
        cut = {"truncation": "longest_first", "max_length": self.max_tokens}
        return self.pieces(text=text, text_pair=second, **cut)[: self.max_tokens]

    def shortened(self, *texts: str) -> tuple[str, ...]:
        """Return two texts, shortened if they are much longer than the model can read.

        A shortened text is still one word too long. If the texts were not shortened, the library
        would cut very long ones into parts and make all pairs of parts.
        """
        for text in texts:
            check_characters(text)
        with self.tokenizing, tokenizing():
            read = [self.tokenizer(text, add_special_tokens=False).encodings[0] for text in texts]
        if prod(len(encoding) / self.max_tokens for encoding in read) < MOST_PAIRS:
            return texts
        ends = [end_of_word(encoding, self.max_tokens) for encoding in read]
        return tuple(text[:end] for text, end in zip(texts, ends, strict=True))

    def is_cut(self, text: str, second: str | None = None) -> bool:
        pair = {} if second is None else {"text_pair": second}
        return len(self.pieces(text=text, **pair)) > self.max_tokens

    def cut(self, pieces: list[Piece]) -> list[Piece]:
        """Return the first `max_tokens` pieces, the last of them the end token if there was one."""
        if len(pieces) <= self.max_tokens:
            return pieces
        end = pieces[-1:] if pieces[-1].is_special else []
        return pieces[: self.max_tokens - len(end)] + end

    def pieces(self, **options: Any) -> list[Piece]:
        """Return the pieces of `text`, of `text` and `text_pair`, or of `text_target`.

        `options` are the arguments of the tokenizer's call. Raises ValueError if the tokenizer
        fails, or gives tokens that the model does not know.
        """
        texts = [options[name] for name in TEXTS if name in options]
        for text in texts:
            check_characters(text)
        with self.tokenizing, tokenizing():
            encoded = self.tokenizer(**options)
        check_ids(encoded["input_ids"], self.known)
        if encoded.encodings:
            return self.with_spans(encoded.encodings[0], texts)
        return self.written(encoded["input_ids"])[1]

    def with_spans(self, encoding: tokenizers.Encoding, texts: Sequence[str]) -> list[Piece]:
        """Return an encoding's pieces with their spans in the texts; a word begins at a space."""
        pieces: list[Piece] = []
        word, segment = -1, 0
        for index, name, (start, end), number, kind in zip(
            encoding.ids, encoding.tokens, encoding.offsets, encoding.sequence_ids,
            encoding.type_ids, strict=True,
        ):  # fmt: skip
            last = pieces[-1] if pieces else None
            if number is None:
                begin = last.end if last else 0
                word += 1
                span = begin, begin
                pieces.append(Piece(index, name, *span, word, segment, "special", token_type=kind))
                continue
            begin = last.end if last and number == segment and not last.is_special else 0
            segment = number
            # The bytes of a letter all have the letter's span: only the first byte keeps it.
            shown = texts[segment][max(start, begin) : end].lstrip()
            own = self.name(index)
            if own in SPACES and own != shown and shown:
                # A space that was added before the text has the first letter's span: empty it.
                shown, end = "", max(start, begin)
            start = max(end - len(shown), begin)
            shown = shown.rstrip()
            end = start + len(shown)
            if not last or last.is_special or last.segment != segment or start > last.end:
                word += 1
            label, role = label_of(own, shown), self.role(index)
            pieces.append(Piece(index, label, start, end, word, segment, role, token_type=kind))
        return pieces

    def mask(self, pieces: Sequence[Piece], positions: Collection[int]) -> list[Piece]:
        """Return the pieces with the mask token in place of those at some positions.

        Raises ValueError if there is no mask token, or no such position.
        """
        if positions and self.mask_id is None:
            raise ValueError("This model has no token that hides a word.")
        if wrong := [position for position in positions if not 0 <= position < len(pieces)]:
            raise ValueError(f"There is no token {wrong[0] + 1} to mask: {len(pieces)} are read.")
        return [
            self.hidden(piece) if position in positions and piece.role != "mask" else piece
            for position, piece in enumerate(pieces)
        ]

    def hidden(self, piece: Piece) -> Piece:
        name = self.tokenizer.mask_token
        return replace(piece, id=self.mask_id, text=name, role="mask", hides=piece.id)

    def pad(self, pieces: list[Piece], length: int | None) -> list[Piece]:
        """Return pieces with padding at the end, `length` in all; None adds no padding.

        Raises ValueError if the model cannot read so many, or if there is no padding token.
        """
        if length is None or length <= len(pieces):
            return pieces
        if length > self.max_tokens:
            raise ValueError(f"Cannot pad to {length} tokens: the model takes {self.max_tokens}.")
        if self.pad_id is None:
            raise ValueError(NO_PADDING)
        last = pieces[-1]
        return pieces + [
            Piece(self.pad_id, self.tokenizer.pad_token, last.end, last.end, last.word + 1 + count,
                  role="padding")
            for count in range(length - len(pieces))
        ]  # fmt: skip

    def piece(self, index: int) -> Piece:
        """Return the piece of an id, as if it were a whole text."""
        return self.written([index])[1][0]


def end_of_word(encoding: tokenizers.Encoding, index: int) -> int | None:
    """Return the character at which the word of a token ends; None if there is no such token."""
    word = encoding.token_to_word(index) if index < len(encoding) else None
    span = None if word is None else encoding.word_to_chars(word)
    return span and span[1]
