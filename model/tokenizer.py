"""Text to tokens and back, each token knowing which characters it stands for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import tokenizers
from tokenizers import Regex, models, normalizers, pre_tokenizers, trainers

from model.tokens import SPECIAL_TOKENS, Token, check_characters

SPACE = "▁"  # stands in the vocabulary for the space before a word
VISIBLE_SPACE = "␣"  # shown for a token that is nothing but space

# What a byte-pair token may span: an elided French word with its apostrophe (l', qu'), a word with
# English contractions in one piece (don't), one digit, or a run of other signs.
PIECES = (
    rf"{SPACE}?(?<![\p{{L}}\p{{M}}])(?i:[cdjlmnst]|qu|lorsqu|jusqu|puisqu|quoiqu)'(?=\p{{L}})"
    rf"|{SPACE}?[\p{{L}}\p{{M}}]+(?:'[\p{{L}}\p{{M}}]+)*"
    rf"|{SPACE}?\p{{N}}"
    rf"|{SPACE}?[^\s\p{{L}}\p{{M}}\p{{N}}{SPACE}]+"
)


class Tokenizer:
    """A vocabulary of pieces or characters, on top of the `tokenizers` library."""

    def __init__(self, backend: tokenizers.Tokenizer) -> None:
        found = tuple(backend.id_to_token(index) for index in range(len(SPECIAL_TOKENS)))
        if found != SPECIAL_TOKENS:
            raise ValueError(f"The tokenizer's first tokens are {found}, not {SPECIAL_TOKENS}.")
        # What a person types is text, also where it spells the name of a special token.
        backend.encode_special_tokens = True
        self.backend = backend

    @classmethod
    def train_byte_pairs(cls, texts: Iterable[str], vocab_size: int) -> Tokenizer:
        """Learn a byte-pair encoding; characters seen too rarely to matter become <unk>."""
        backend = tokenizers.Tokenizer(models.BPE(unk_token="<unk>"))
        backend.normalizer = normalizers.Sequence(
            [
                normalizers.NFC(),
                normalizers.Replace(Regex("[’ʼ]"), "'"),
                normalizers.Replace(Regex(r"[\s▁]+"), " "),
                normalizers.Strip(),
            ]
        )
        backend.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Metaspace(SPACE, prepend_scheme="always", split=False),
                pre_tokenizers.Split(Regex(PIECES), "isolated"),
            ]
        )
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size,
            special_tokens=list(SPECIAL_TOKENS),
            limit_alphabet=120,
            show_progress=False,
        )
        backend.train_from_iterator(texts, trainer)
        return cls(backend)

    @classmethod
    def train_characters(cls, texts: Iterable[str]) -> Tokenizer:
        """One token per character, spaces included, for small experiments."""
        characters = sorted({character for text in texts for character in text})
        vocabulary = {token: index for index, token in enumerate((*SPECIAL_TOKENS, *characters))}
        backend = tokenizers.Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
        backend.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
        return cls(backend)

    @classmethod
    def from_file(cls, path: Path) -> Tokenizer:
        """Read a tokenizer that `save` wrote; raises ValueError for anything else."""
        try:
            backend = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises nothing narrower
            raise ValueError(f"{path} is not a tokenizer: {error}.") from error
        return cls(backend)

    def save(self, path: Path) -> None:
        """Write the tokenizer as JSON."""
        self.backend.save(str(path))

    @property
    def vocab_size(self) -> int:
        """How many ids there are, special tokens included."""
        return self.backend.get_vocab_size()

    def encode(self, text: str) -> list[Token]:
        """Split a text into tokens that show what was typed, without special tokens.

        Raises ValueError for a text with half of a character.
        """
        check_characters(text)
        encoding = self.backend.encode(text, add_special_tokens=False)
        starts = [start for start, _ in encoding.offsets[1:]]
        tokens = []
        for index, piece, (start, end), following in zip(
            encoding.ids, encoding.tokens, encoding.offsets, [*starts, len(text)], strict=False
        ):
            # Before the first word there may be no space, only the next character.
            if piece == SPACE and not text[start:end].isspace():
                end = start
            # Normalizing leaves the later parts of a decomposed letter without a token.
            while start < end < following and not text[end].isspace():
                end += 1
            tokens.append(self.written_token(index, text, start, end))
        return tokens

    def encode_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of many texts, without special tokens."""
        batch = self.backend.encode_batch_fast(list(texts), add_special_tokens=False)
        return [encoding.ids for encoding in batch]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids; special and unknown tokens add nothing to it."""
        return self.decode_tokens(ids)[0]

    def decode_tokens(self, ids: Sequence[int]) -> tuple[str, list[Token]]:
        """The text of ids, and each id's token with its span in that text."""
        text, tokens = "", []
        for index in ids:
            text, token = self.append(text, index)
            tokens.append(token)
        return text, tokens

    def append(self, text: str, index: int) -> tuple[str, Token]:
        """The text with one more id written after it, and that id's token."""
        if index < len(SPECIAL_TOKENS):
            return text, self.special_token(index, len(text))
        piece = self.backend.id_to_token(index)
        if not text:
            piece = piece.removeprefix(SPACE)
        longer = text + piece.replace(SPACE, " ")
        return longer, self.written_token(index, longer, len(text), len(longer))

    def special_token(self, index: int, position: int = 0) -> Token:
        """The token of a special id, standing before the character at `position`."""
        return Token(index, SPECIAL_TOKENS[index], position, position)

    def written_token(self, index: int, text: str, start: int, end: int) -> Token:
        """The token for text[start:end], without the space before a word."""
        written = text[start:end].lstrip()
        if not written:
            return Token(index, VISIBLE_SPACE, start, end)
        return Token(index, written, end - len(written), end)
