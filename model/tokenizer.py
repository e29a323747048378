"""Turns text into tokens and back; each token knows the characters it stands for."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import Regex, models, normalizers, pre_tokenizers, trainers

from headlight.model.tokens import BYTES, SPECIAL_TOKENS, Token, check_characters

SPACE = "▁"  # the sign for the space before a word in the vocabulary's pieces
VISIBLE_SPACE = "␣"  # the sign shown for a token that is only spaces

# An elided French word, such as l', which no space follows.
ELIDED = re.compile(
    r"(?<![^\W\d_])(?:[cdjlmnst]|qu|lorsqu|jusqu|puisqu|quoiqu)'$", flags=re.IGNORECASE
)

WHOLE_WORDS = 0.35  # the share of the vocabulary that is whole words
UNFINISHED = 0x10FF00  # this plus a byte is a placeholder character until all bytes are there

# A byte-pair token lies within one of these: an elided French word with its apostrophe (l', qu'),
# a word, with an English contraction in it (don't), one digit, or a run of other signs.
PIECES = (
    rf"{SPACE}?(?<![\p{{L}}\p{{M}}])(?i:[cdjlmnst]|qu|lorsqu|jusqu|puisqu|quoiqu)'(?=\p{{L}})"
    rf"|{SPACE}?[\p{{L}}\p{{M}}]+(?:'[\p{{L}}\p{{M}}]+)*"
    rf"|{SPACE}?\p{{N}}"
    rf"|{SPACE}?[^\s\p{{L}}\p{{M}}\p{{N}}{SPACE}]+"
)


class Tokenizer:
    """A vocabulary of pieces or characters, on top of the `tokenizers` library."""

    def __init__(self, backend: tokenizers.Tokenizer) -> None:
        first_tokens = tuple(backend.id_to_token(index) for index in range(len(SPECIAL_TOKENS)))
        if first_tokens != SPECIAL_TOKENS:
            raise ValueError(
                f"The tokenizer's first tokens are {first_tokens}, not {SPECIAL_TOKENS}."
            )
        # The name of a special token, such as <end>, is ordinary text if it is typed.
        backend.encode_special_tokens = True
        forget_texts(backend)
        self.backend = backend
        has_bytes = backend.token_to_id(next(iter(BYTES))) is not None
        self.bytes = BYTES if has_bytes else {}
        vocabulary = backend.get_vocab() if has_bytes else {}
        self.elided = {
            index for piece, index in vocabulary.items() if ELIDED.search(piece.removeprefix(SPACE))
        }

    @classmethod
    def train_byte_pairs(
        cls, texts: Iterable[str], vocab_size: int, *, whole_words: float | None = WHOLE_WORDS
    ) -> Tokenizer:
        """Learn a byte-pair encoding; a share `whole_words` of its entries are the commonest words.

        These words are single tokens even if no byte pairs build them, and rare characters are
        split into bytes. If `whole_words` is None, there are no such words, and rare characters
        become <unk>.
        """
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
        if whole_words is not None:
            texts = list(texts)
        trainer = trainers.BpeTrainer(
            vocab_size=round(vocab_size * (1 - (whole_words or 0))),
            special_tokens=[*SPECIAL_TOKENS, *(BYTES if whole_words is not None else ())],
            limit_alphabet=120,
            show_progress=False,
        )
        backend.train_from_iterator(texts, trainer)
        if whole_words is not None:
            rules = json.loads(backend.to_str())
            rules["model"] |= {"byte_fallback": True, "ignore_merges": True}
            add_words(backend, rules["model"]["vocab"], texts, vocab_size)
            # The library made the bytes special tokens, too; here they are ordinary pieces.
            rules["added_tokens"] = rules["added_tokens"][: len(SPECIAL_TOKENS)]
            backend = tokenizers.Tokenizer.from_str(json.dumps(rules))
        return cls(backend)

    @classmethod
    def train_characters(cls, texts: Iterable[str]) -> Tokenizer:
        """Return a tokenizer with a token for each character in the texts, spaces included."""
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
        except Exception as error:  # the library has no narrower class for its errors
            raise ValueError(f"{path} is not a tokenizer: {error}.") from error
        return cls(backend)

    def save(self, path: Path) -> None:
        self.backend.save(str(path))

    @property
    def vocab_size(self) -> int:
        return self.backend.get_vocab_size()

    def encode(self, text: str) -> list[Token]:
        """Split a text into tokens, each with the span of its characters, without special tokens.

        Raises ValueError for a text with a lone surrogate.
        """
        check_characters(text)
        encoding = self.backend.encode(text, add_special_tokens=False)
        offsets = encoding.offsets  # read only once, because each access makes a new list
        pieces = self.whole_after_elided(encoding)
        starts = [offsets[span.start][0] for _, span in pieces[1:]]
        tokens: list[Token] = []
        for (index, span), following in zip(pieces, [*starts, len(text)], strict=False):
            piece = self.backend.id_to_token(index)
            start, end = offsets[span.start][0], offsets[span.stop - 1][1]
            # The first word may have no space before it: then this piece has no characters.
            if piece == SPACE and not text[start:end].isspace():
                end = start
            # A letter typed as several characters is normalized to one: its token gets all of them.
            while start < end < following and not text[end].isspace():
                end += 1
            if piece in self.bytes:
                tokens.append(Token(index, piece, start, end))
                spread_over_bytes(tokens, start, end)
                continue
            tokens.append(self.written_token(index, text, start, end))
        return tokens

    def encode_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of many texts, without special tokens."""
        batch = self.backend.encode_batch_fast(list(texts), add_special_tokens=False)
        ids_of_texts = [encoding.ids for encoding in batch]
        elided = [row for row, ids in enumerate(ids_of_texts) if self.elided.intersection(ids)]
        # The fast call above does not report where words begin, so texts with elided words are
        # encoded again.
        again = self.backend.encode_batch([texts[row] for row in elided], False, False)
        for row, encoding in zip(elided, again, strict=True):
            ids_of_texts[row] = [index for index, _ in self.whole_after_elided(encoding)]
        return ids_of_texts

    def whole_after_elided(self, encoding: tokenizers.Encoding) -> list[tuple[int, range]]:
        """Return the ids, and for each one the indices of the encoding's ids that it replaces.

        A word after an elided one has no space before it, and the vocabulary may have it only with
        a space. Then the id of that form replaces the pieces of the word.
        """
        ids, words = encoding.ids, encoding.word_ids
        pieces: list[tuple[int, range]] = []
        first = 0
        while first < len(ids):
            last = first + 1
            if first and ids[first - 1] in self.elided:
                while last < len(ids) and words[last] == words[first]:
                    last += 1
            whole = None
            if last - first > 1:
                whole = self.backend.token_to_id(SPACE + "".join(encoding.tokens[first:last]))
            if whole is None:
                last = first + 1
            pieces.append((ids[first] if whole is None else whole, range(first, last)))
            first = last
        return pieces

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids; special and unknown tokens add nothing to it."""
        return self.decode_tokens(ids)[0]

    def decode_tokens(self, ids: Sequence[int]) -> tuple[str, list[Token]]:
        """Return the text of ids, and each id's token with its span in that text."""
        text = ""
        tokens: list[Token] = []
        for index in ids:
            text, token = self.append(text, index)
            if token.is_byte:
                spread_over_bytes(tokens, token.start, token.end)
            tokens.append(token)
        return text, tokens

    def append(self, text: str, index: int) -> tuple[str, Token]:
        """Return the text with one more id appended, and that id's token."""
        if index < len(SPECIAL_TOKENS):
            return text, self.special_token(index, len(text))
        piece = self.backend.id_to_token(index)
        if piece is None:
            raise ValueError(f"The model has no token with the id {index}.")
        if piece in self.bytes:
            longer = append_byte(text, self.bytes[piece])
            return longer, Token(index, piece, len(longer) - 1, len(longer))
        if not text or (self.bytes and text.endswith("'") and ELIDED.search(text)):
            piece = piece.removeprefix(SPACE)
        longer = text + piece.replace(SPACE, " ")
        return longer, self.written_token(index, longer, len(text), len(longer))

    def special_token(self, index: int, position: int = 0) -> Token:
        """Return the token of a special id, with an empty span at `position`."""
        return Token(index, SPECIAL_TOKENS[index], position, position)

    def written_token(self, index: int, text: str, start: int, end: int) -> Token:
        """Return the token of text[start:end]; its span leaves out the space before a word."""
        written = text[start:end].lstrip()
        if not written:
            return Token(index, VISIBLE_SPACE, start, end)
        return Token(index, written, end - len(written), end)


def add_words(
    backend: tokenizers.Tokenizer, vocabulary: dict[str, int], texts: Iterable[str], size: int
) -> None:
    """Add the commonest words of the texts to a vocabulary, up to `size` entries.

    Single characters are not added: characters that the vocabulary lacks are split into bytes.
    """
    seen = Counter(texts)
    counts: Counter[str] = Counter()
    for text, times in seen.items():
        normal = backend.normalizer.normalize_str(text)
        for word, _ in backend.pre_tokenizer.pre_tokenize_str(normal):
            counts[word] += times
    for word, count in counts.most_common():
        if len(vocabulary) >= size or count == 1:
            break
        if len(word) > 2 and word not in vocabulary:
            vocabulary[word] = len(vocabulary)


def spread_over_bytes(tokens: list[Token], start: int, end: int) -> None:
    """Give the last tokens, which are bytes of one character, the span start:end."""
    for position in reversed(range(len(tokens))):
        token = tokens[position]
        # a special token among the bytes has no text: its span stays empty
        if token.id < len(SPECIAL_TOKENS):
            at = min(token.start, start)
            tokens[position] = replace(token, start=at, end=at)
        elif token.is_byte and token.end > start:
            tokens[position] = replace(token, start=start, end=end)
        else:
            break


def append_byte(text: str, byte: int) -> str:
    """Return the text with one more byte of a character appended.

    Until a character has all its bytes, each byte is a placeholder character in the text.
    """
    for held in (3, 2, 1, 0):
        numbers = [ord(character) - UNFINISHED for character in text[max(0, len(text) - held) :]]
        if len(numbers) == held and all(0 <= number < 256 for number in numbers):
            try:
                return text[: len(text) - held] + bytes([*numbers, byte]).decode("utf-8")
            except UnicodeDecodeError:
                continue
    return text + chr(UNFINISHED + byte)


class Nothing(dict):
    """A cache that stays empty."""

    def __setitem__(self, key: object, value: object) -> None:
        """Ignore the entry."""


def forget_texts(tokenizer: Any) -> None:
    """Stop a tokenizer of the tokenizers or transformers library from caching words.

    The cache makes later texts faster, but keeps words of all visitors in memory.
    """
    if isinstance(getattr(tokenizer, "cache", None), dict):
        tokenizer.cache = Nothing()
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if isinstance(backend, tokenizers.Tokenizer) and hasattr(backend.model, "_resize_cache"):
        backend.model._resize_cache(0)
