"""Text to the pieces that a BERT reads, by the tokenizer of its checkpoint."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import tokenizers

from model.config import TransformerConfig
from model.library.checks import check_ids, tokenizing
from model.library.hub import LoadingError
from model.library.pieces import Piece, Role
from model.tokenizer import forget_texts
from model.tokens import check_characters

if TYPE_CHECKING:
    from pathlib import Path

    from transformers import PreTrainedTokenizerBase

MOST_PAIRS = 1_000  # of the parts of two long texts


class WordPieces:
    """A BERT's tokenizer, which reads a text as [CLS] first [SEP] second [SEP].

    Raises LoadingError if the tokenizer in `folder` does not fit the model of this shape.
    """

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, config: TransformerConfig, folder: Path
    ) -> None:
        if not tokenizer.is_fast or None in (tokenizer.mask_token_id, tokenizer.pad_token_id):
            raise LoadingError(
                f"The tokenizer in {folder} is not one of BERT's word pieces with [MASK] and "
                "[PAD]. Choose another BERT, such as google-bert/bert-base-uncased."
            )
        # Its own copy: cutting long texts is a setting of the tokenizer.
        self.backend = tokenizers.Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
        forget_texts(self.backend)
        self.backend.no_padding()
        self.backend.enable_truncation(config.max_positions)
        self.known = config.source_vocab_size
        if (count := self.backend.get_vocab_size()) > self.known:
            raise LoadingError(
                f"The tokenizer in {folder} has {count} tokens, but the model knows {self.known}. "
                "Save both from the same model."
            )
        if tokenizer.pad_token_id != config.pad_id:
            raise LoadingError(
                f"The tokenizer in {folder} pads with the token {tokenizer.pad_token_id}, but the "
                f"model with {config.pad_id}. Save both from the same model."
            )
        self.pad_id, self.mask_id = tokenizer.pad_token_id, tokenizer.mask_token_id
        self.roles: dict[int, Role] = {
            tokenizer.unk_token_id: "unknown",
            tokenizer.mask_token_id: "mask",
            tokenizer.pad_token_id: "special",
            tokenizer.cls_token_id: "special",
            tokenizer.sep_token_id: "special",
        }

    def text(self, index: int) -> str:
        """Return a piece of the vocabulary by its id; empty if only the model has that id."""
        return self.backend.id_to_token(index) or ""

    def piece(self, index: int) -> Piece:
        """Return the piece of an id, as if it were a text of its own."""
        return Piece(index, self.text(index), 0, 0, role=self.roles.get(index, "written"))

    @property
    def written_ids(self) -> list[int]:
        """The ids of all pieces except special ones."""
        ids = self.backend.get_vocab().values()
        return sorted(index for index in ids if self.roles.get(index, "written") == "written")

    def encode(self, first: str, second: str | None) -> tokenizers.Encoding:
        """Return the tokenizers library's encoding of one sentence, or of two.

        Raises ValueError if it fails, or gives tokens that the model does not know.
        """
        for text in (first, second or ""):
            check_characters(text)
        with tokenizing():
            both = second and second.strip()
            texts = self.shortened([first, second]) if both else [first]
            encoding = self.backend.encode(*texts)
        check_ids(encoding.ids, self.known)
        return encoding

    def shortened(self, texts: list[str]) -> list[str]:
        """Return two texts, shortened if they are much longer than the model can read.

        A shortened text ends with its first word that is too many. Without this, the library would
        cut very long texts into parts, and make all pairs of them.
        """
        cut = [self.backend.encode(text, add_special_tokens=False).overflowing for text in texts]
        if len(cut[0]) * len(cut[1]) < MOST_PAIRS:
            return texts
        return [text[: end_of_word(parts[0])] for text, parts in zip(texts, cut, strict=True)]

    def is_cut(self, first: str, second: str | None) -> bool:
        """Return whether some of the text is left out."""
        return bool(self.encode(first, second).overflowing)

    def read(self, first: str, second: str | None, masked: Collection[int]) -> list[Piece]:
        """Return the pieces of one sentence or two, with [MASK] at the positions `masked`.

        Raises ValueError for a position that does not exist.
        """
        pieces = self.pieces(self.encode(first, second))
        for place in masked:
            if not 0 <= place < len(pieces):
                raise ValueError(f"There is no token {place + 1} to mask: {len(pieces)} are read.")
            pieces[place] = self.hidden(pieces[place])
        return pieces

    def hidden(self, piece: Piece) -> Piece:
        """Return the [MASK] that hides a piece."""
        if piece.role == "mask":
            return piece
        text = self.text(self.mask_id)
        return replace(piece, id=self.mask_id, text=text, role="mask", hides=piece.id)

    def pieces(self, encoding: tokenizers.Encoding) -> list[Piece]:
        """Return the tokens of an encoding, with their words counted along the line."""
        pieces: list[Piece] = []
        word, before = -1, None
        for index, text, (start, end), segment, number, sequence in zip(
            encoding.ids, encoding.tokens, encoding.offsets, encoding.type_ids, encoding.word_ids,
            encoding.sequence_ids, strict=True,
        ):  # fmt: skip
            if number is None or (sequence, number) != before:
                word += 1
            if number is None and pieces:
                start = end = pieces[-1].end
            before = sequence, number
            role = self.roles.get(index, "written")
            pieces.append(Piece(index, text, start, end, word, segment, role))
        return pieces

    def pad(self, pieces: Sequence[Piece], length: int) -> list[Piece]:
        """Return pieces with [PAD] appended until there are `length`, in the first segment."""
        last, text = pieces[-1], self.text(self.pad_id)
        padding = [
            Piece(self.pad_id, text, last.end, last.end, last.word + 1 + place, 0, "padding")
            for place in range(length - len(pieces))
        ]
        return [*pieces, *padding]


def end_of_word(encoding: tokenizers.Encoding) -> int:
    """Return the position in a text at which the first word of an encoding ends."""
    words = encoding.word_ids
    count = next((n for n, word in enumerate(words) if word != words[0]), len(words))
    return encoding.offsets[count - 1][1]
