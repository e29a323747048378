"""What a text must be to be read at all."""

from __future__ import annotations


def check_characters(text: str) -> None:
    """Raise ValueError for a text with half of a character, which no tokenizer can read.

    Python's strings can hold one of the two halves (surrogates) that make up some characters in
    UTF-16; as text it means nothing.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"Character {error.start + 1} of this text is only half of one. Type it again."
        ) from None
