"""Tokens, the ids of the special ones, and the sequences of ids that encoder and decoder read."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

SPECIAL_TOKENS = ("<pad>", "<unk>", "<start>", "<end>")
PAD_ID, UNKNOWN_ID, START_ID, END_ID = range(4)

# A character that is not in the vocabulary becomes one token for each byte of its UTF-8.
BYTES = {f"<0x{byte:02X}>": byte for byte in range(256)}


@dataclass(frozen=True)
class Token:
    """One token: its id, its `text` on screen, and its span, the characters from start to end.

    A special token has an empty span, and shows its name. If a character is split into several
    byte tokens, each has the span of the whole character, and shows the value of its byte.
    """

    id: int
    text: str
    start: int
    end: int

    @property
    def is_unknown(self) -> bool:
        return self.id == UNKNOWN_ID

    @property
    def is_byte(self) -> bool:
        """True if this is one byte of a character."""
        return self.text in BYTES

    @property
    def is_padding(self) -> bool:
        return self.id == PAD_ID

    @property
    def is_special(self) -> bool:
        """True if this is a token for padding, start or end, and stands for no text."""
        return self.id in (PAD_ID, START_ID, END_ID)


def check_characters(text: str) -> None:
    """Raise ValueError for a text with a lone surrogate, which no tokenizer can read.

    UTF-16 writes some characters as two surrogates. A string in Python may contain only one of
    them, which is no character.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"Character {error.start + 1} of this text is not valid Unicode (an unpaired "
            "surrogate). Type it again."
        ) from None


def source_sequence(ids: Sequence[int]) -> list[int]:
    """Return the encoder's input: the sentence and the end token."""
    return [*ids, END_ID]


def target_sequence(ids: Sequence[int]) -> list[int]:
    """Return the decoder's input: the start token, and then the target."""
    return [START_ID, *ids]


def no_source(rows: int) -> Tensor:
    """Return dummy sources (rows, 1) for a model with only a decoder, which never reads them."""
    return torch.full((rows, 1), END_ID)


def pad(sequences: Sequence[Sequence[int]], length: int = 0) -> Tensor:
    """Pad id sequences on the right to the longest one, or to `length` -> (B, length)."""
    length = max([length, *(len(sequence) for sequence in sequences)])
    rows = [[*sequence, *[PAD_ID] * (length - len(sequence))] for sequence in sequences]
    return torch.tensor(rows, dtype=torch.long)


def token_ids(tokens: Sequence[Token], device: torch.device) -> Tensor:
    """Tokens -> (1, T) ids on a device."""
    return torch.tensor([[token.id for token in tokens]], dtype=torch.long, device=device)
