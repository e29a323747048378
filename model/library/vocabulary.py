"""Turn ids into text and pieces, by the vocabulary of any tokenizer of the transformers library."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headlight.model.library.checks import tokenizing
from headlight.model.library.pieces import BYTE_NAME, Piece, Role, spelled_out, written_by
from headlight.model.tokenizer import VISIBLE_SPACE, forget_texts
from headlight.model.tokens import BYTES, Token

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

HALF = "\N{REPLACEMENT CHARACTER}"  # decoded in place of a character with missing bytes
# the visible signs of control characters
CONTROLS = {code: 0x2400 + code for code in range(32)} | {127: "␡"}
VISIBLE = CONTROLS | str.maketrans({" ": VISIBLE_SPACE, "\n": "⏎"})


class Vocabulary:
    """The vocabulary of a tokenizer, which turns ids into text and pieces one by one.

    An id may be part of a character, or begin with the space before a word, so it is decoded
    together with the few ids before it.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self.tokenizer: Any = tokenizer  # Any, because the library's types are too wide
        forget_texts(tokenizer)
        # the number of the tokenizer's ids; a model may have more embeddings
        self.size = 1 + max(tokenizer.get_vocab().values())
        self.roles: dict[int, Role] = dict.fromkeys(tokenizer.all_special_ids, "special")
        self.added = tokenizer.added_tokens_decoder
        for index, added in self.added.items():
            if added.special:
                self.roles[index] = "special"
        self.roles |= {self.tokenizer.unk_token_id: "unknown", self.tokenizer.mask_token_id: "mask"}
        self.bytes = byte_names(tokenizer)

    def written(self, ids: Sequence[int], before: Sequence[Any] = ()) -> tuple[str, list[Piece]]:
        return written_by(self.append, ids, before)

    def append(self, text: str, before: Sequence[Any], index: int) -> tuple[str, Piece]:
        """Return `text` with one more id, which follows the tokens `before`, and the id's piece.

        A word begins at a space. A piece that adds no characters is shown by its name.
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
        label = name if HALF in shown else label_of(name, shown)
        return text + added, Piece(index, label, start, end, word, role=role)

    @property
    def written_ids(self) -> list[int]:
        """The ids of all tokens except special ones."""
        return [index for index in range(self.size) if self.role(index) == "written"]

    def role(self, index: int) -> Role:
        return self.roles.get(index, "written")

    def name(self, index: int) -> str:
        """Return the name of a token in the vocabulary, or its number, as <7>, if it has none.

        A vocabulary of bytes writes each byte as a letter, such as Ġ for a space. Such letters are
        turned back into text; a byte that is only part of a character becomes a number, as <0xC3>.
        """
        name = self.tokenizer.convert_ids_to_tokens(index) if index < self.size else None
        if not name:
            return f"<{index}>"
        if index in self.added or not self.bytes.keys() >= set(name):
            return name
        text = bytes(self.bytes[letter] for letter in name).decode(errors="surrogateescape")
        return re.sub("[\udc80-\udcff]", byte_in_numbers, text).translate(VISIBLE)

    def window(self, before: Sequence[Token]) -> list[int]:
        """Return the last ids, from the last token that decodes to whole characters on its own."""
        ids: list[int] = []
        for token in reversed(before):
            if self.role(token.id) != "special":
                ids.insert(0, token.id)
                if self.is_whole(token.id):
                    break
        return ids

    def is_whole(self, index: int) -> bool:
        """Return whether a token decodes to whole characters that are not only spaces."""
        if self.name(index) in BYTES:
            return False
        alone = self.decode([index])
        return bool(alone.strip()) and HALF not in alone

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids, with spaces as the tokenizer writes them."""
        known = [index for index in ids if index < self.size]
        with tokenizing():
            return self.tokenizer.decode(known, clean_up_tokenization_spaces=False)


def label_of(name: str, shown: str) -> str:
    """Return a token's text, or its name if it has no text or only some bytes of a letter."""
    written = name.lstrip(VISIBLE_SPACE)
    is_part = BYTE_NAME.search(written) and spelled_out([written]) != shown
    return (written if shown and is_part else shown or name).translate(CONTROLS)


def byte_names(tokenizer: PreTrainedTokenizerBase) -> dict[str, int]:
    """Return the bytes that the letters of a vocabulary of bytes mean; {} for any other."""
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    decoder = getattr(getattr(tokenizer, "backend_tokenizer", None), "decoder", None)
    is_of_bytes = "ByteLevel" in repr(decoder)
    return {name: byte for byte, name in bytes_to_unicode().items()} if is_of_bytes else {}


def byte_in_numbers(match: re.Match[str]) -> str:
    return f"<0x{ord(match[0]) - 0xDC00:02X}>"


def shared_beginning(first: str, second: str) -> int:
    """Return the number of characters that two texts have in common at their beginning."""
    if second.startswith(first):
        return len(first)
    pairs = enumerate(zip(first, second, strict=False))
    return next((i for i, (a, b) in pairs if a != b), len(second))
