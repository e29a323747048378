"""Turn texts into pieces and back, by two functions of a user or as plain numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from headlight.model.library.hub import first_line
from headlight.model.library.pieces import Piece, written_by
from headlight.model.tokenizer import VISIBLE_SPACE
from headlight.model.tokens import Token, check_characters

Encode = Callable[[str], Sequence[int]]
Decode = Callable[[Sequence[int]], str]
NO_PADDING = "The id that this model's texts are padded with is not known: open it with padding=."


class OwnTokens:
    """A tokenizer of a model in memory: `encode` turns a text into ids, `decode` ids into a text.

    `special` are ids that represent no text, such as that of the start token. `padding` is the id
    of padding, if it is known.
    """

    def __init__(
        self,
        encode: Encode,
        decode: Decode,
        special: Sequence[int | None] = (),
        padding: int | None = None,
    ) -> None:
        self.encode, self.decode, self.padding = encode, decode, padding
        self.special = {index for index in (*special, padding) if index is not None}

    @classmethod
    def of(
        cls, tokenizer: Any, special: Sequence[int | None], padding: int | None = None
    ) -> OwnTokens:
        """Make a tokenizer from a pair of functions, or an object with `encode` and `decode`.

        Without a tokenizer, a text is numbers with spaces between them.
        """
        match tokenizer:
            case None:
                return cls(read_numbers, lambda ids: " ".join(map(str, ids)), special, padding)
            case [encode, decode]:
                return cls(encode, decode, special, padding)
        return cls(tokenizer.encode, tokenizer.decode, special, padding)

    def read(self, text: str) -> list[Piece]:
        """Return the pieces of a text; raises ValueError if it cannot be read."""
        check_characters(text)
        try:
            encoded = self.encode(text)
            ids = [int(index) for index in getattr(encoded, "ids", encoded)]
        except Exception as error:  # a user's function can raise any kind of error
            raise ValueError(
                f"The tokenizer cannot read this text: {first_line(error)} Change the text."
            ) from error
        return self.written(ids)[1]

    def written(self, ids: Sequence[int], before: Sequence[Token] = ()) -> tuple[str, list[Piece]]:
        return written_by(self.append, ids, before)

    def append(self, text: str, before: Sequence[Any], index: int) -> tuple[str, Piece]:
        """Append an id to a text; return the longer text and the piece of the id.

        `before` are the tokens of the text. A piece begins a word if there is a space before it, as
        before every number.
        """
        word = before[-1].word + 1 if before else 0
        if index in self.special:
            name = self.decode([index]).strip() or f"<{index}>"
            role = "padding" if index == self.padding else "special"
            return text, Piece(index, name, len(text), len(text), word, role=role)
        known = [token.id for token in before if token.id not in self.special]
        longer, shorter = self.decode([*known, index]), self.decode(known) if known else ""
        added = longer[len(shorter) :] if longer.startswith(shorter) else self.decode([index])
        shown = added.strip()
        start = len(text) + len(added) - len(added.lstrip()) if shown else len(text)
        goes_on = before and shown and not before[-1].is_special and not added[0].isspace()
        word = before[-1].word if goes_on else word
        return text + added, Piece(index, shown or VISIBLE_SPACE, start, start + len(shown), word)

    def pad(self, pieces: Sequence[Piece], length: int) -> list[Piece]:
        """Return pieces with padding appended until there are `length` of them.

        Raises ValueError if the id of padding is not known.
        """
        if self.padding is None:
            raise ValueError(NO_PADDING)
        missing = max(0, length - len(pieces))
        return [*pieces, *self.written([self.padding] * missing, pieces)[1]]

    def piece(self, index: int) -> Piece:
        """Return the piece of an id that has no tokens before it."""
        return self.written([index])[1][0]


def read_numbers(text: str) -> list[int]:
    """Return the numbers in a text; raises ValueError for a word that is not a number."""
    words = text.replace(",", " ").split()
    if wrong := [word for word in words if not (word.isascii() and word.isdecimal())]:
        raise ValueError(
            f"without a tokenizer a text is the numbers of its tokens, such as 5 0 12, and "
            f"{wrong[0]!r} is none."
        )
    return [int(word) for word in words]
