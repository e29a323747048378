"""The tokens of a tokenizer of the transformers library, as pieces of the text that they form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from model.library.checks import tokenizing
from model.library.pieces import Piece, Role
from model.tokenizer import forget_texts
from model.tokens import BYTES, Token

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

HALF = "\N{REPLACEMENT CHARACTER}"  # a character with missing bytes


class Vocabulary:
    """The pieces of a tokenizer, written one after the other.

    A piece may be part of a character, or begin with the space before a word, so it is read
    together with the few pieces before it.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self.tokenizer = tokenizer
        forget_texts(tokenizer)
        self.size = 1 + max(tokenizer.get_vocab().values())  # a model may have more rows
        self.roles: dict[int, Role] = dict.fromkeys(tokenizer.all_special_ids, "special")
        for index, added in tokenizer.added_tokens_decoder.items():
            if added.special:
                self.roles[index] = "special"
        self.roles |= {tokenizer.unk_token_id: "unknown", tokenizer.mask_token_id: "mask"}

    def written(self, ids: Sequence[int], before: Sequence[Token] = ()) -> tuple[str, list[Piece]]:
        """Return the text of ids that follow other tokens, and each id as a piece of it."""
        text, pieces = "", list(before)
        for index in ids:
            text, piece = self.append(text, pieces, index)
            pieces.append(piece)
        return text, pieces[len(before) :]

    def append(self, text: str, before: Sequence[Token], index: int) -> tuple[str, Piece]:
        """Return a text with one more id after all tokens before it, and that id's piece.

        A space begins a word. A piece without characters of its own shows its name.
        """
        name = self.name(index)
        role, last = self.role(index), before[-1] if before else None
        word = 0 if last is None else last.word + 1
        if role == "special":
            return text, Piece(index, name, len(text), len(text), word, role=role)
        window = self.window(before)
        known, longer = self.decode(window), self.decode([*window, index])
        same = shared_beginning(known, longer)
        text, added = text[: max(0, len(text) - len(known) + same)], longer[same:]
        shown = added.strip()
        start = len(text) + (len(added) - len(added.lstrip()) if shown else len(added))
        end = start + len(shown)
        if last is not None and not last.is_special:
            goes_on = shown and (last.start == last.end or not added[0].isspace())
            if goes_on or known.endswith(HALF):
                word = last.word
        if HALF in shown:
            shown = name
        return text + added, Piece(index, shown or name, start, end, word, role=role)

    @property
    def written_ids(self) -> list[int]:
        """The ids of all tokens except special ones."""
        return [index for index in range(self.size) if self.role(index) == "written"]

    def role(self, index: int) -> Role:
        """Return the role of a token: written text, or a special token of the tokenizer."""
        return self.roles.get(index, "written")

    def name(self, index: int) -> str:
        """Return the name of a token in the vocabulary, or its number if it has none."""
        name = self.tokenizer.convert_ids_to_tokens(index) if index < self.size else None
        return name or f"<{index}>"

    def window(self, before: Sequence[Token]) -> list[int]:
        """Return the ids of the last tokens, back to one that is whole characters by itself."""
        ids: list[int] = []
        for token in reversed(before):
            if self.role(token.id) != "special":
                ids.insert(0, token.id)
                if self.is_whole(token.id):
                    break
        return ids

    def is_whole(self, index: int) -> bool:
        """Return whether a token is whole characters, and not only spaces."""
        if self.name(index) in BYTES:
            return False
        alone = self.decode([index])
        return bool(alone.strip()) and HALF not in alone

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids, with the tokenizer's spaces."""
        known = [index for index in ids if index < self.size]
        with tokenizing():
            return self.tokenizer.decode(known, clean_up_tokenization_spaces=False)


def shared_beginning(first: str, second: str) -> int:
    """Return the number of characters at which two texts begin alike."""
    if second.startswith(first):
        return len(first)
    pairs = enumerate(zip(first, second, strict=False))
    return next((i for i, (a, b) in pairs if a != b), len(second))
