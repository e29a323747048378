"""A token, the ids of the special ones, and what a text must be to be read at all."""

from __future__ import annotations

from dataclasses import dataclass

SPECIAL_TOKENS = ("<pad>", "<unk>", "<start>", "<end>")
PAD_ID, UNKNOWN_ID, START_ID, END_ID = range(4)

# A character that has no piece of its own is written as the bytes of its UTF-8.
BYTES = {f"<0x{byte:02X}>": byte for byte in range(256)}


@dataclass(frozen=True)
class Token:
    """One token: its id, what to show for it, and its characters text[start:end].

    A special token stands for no characters: its span is empty and it shows its name. The bytes of
    a character all have the character's span, and show their number.
    """

    id: int
    text: str
    start: int
    end: int

    @property
    def is_unknown(self) -> bool:
        """Whether the vocabulary has no piece for these characters."""
        return self.id == UNKNOWN_ID

    @property
    def is_byte(self) -> bool:
        """Whether this is one byte of a character, and shows its number."""
        return self.text in BYTES

    @property
    def is_padding(self) -> bool:
        """Whether this only fills up the length of a text."""
        return self.id == PAD_ID

    @property
    def is_special(self) -> bool:
        """Whether this is padding, start or end, and stands for nothing that was written."""
        return self.id in (PAD_ID, START_ID, END_ID)


def check_characters(text: str) -> None:
    """Raise ValueError for a text with half of a character, which no tokenizer can read.

    Python's strings can hold one of the two halves (surrogates) that make up some characters in
    UTF-16; as text it means nothing.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"Character {error.start + 1} of this text is not valid Unicode (an unpaired "
            "surrogate). Type it again."
        ) from None
