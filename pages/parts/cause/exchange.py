"""Texts that differ from a given one in one word, to compare with it."""

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice, pairwise

from model.reader import Reader

WORD = re.compile(r"[^\W\d_]+")
LETTER = re.compile(r"[^\W_]")
MOST = 8  # texts offered
MOST_TRIED = 40
# Words that can replace each other in most sentences, the most interesting ones first; each is
# replaced by the next.
ALIKE = (
    "cat dog horse",
    "tired wide",
    "hungry fresh",
    "red blue green",
    "black white",
    "brother sister",
    "father mother",
    "son daughter",
    "man woman",
    "boy girl",
    "king queen",
    "old young",
    "big small",
    "hot cold",
    "good bad",
    "two three four",
    "five six",
    "seven eight",
    "nine ten",
    "today tomorrow",
    "yesterday today",
    "summer winter",
    "house garden",
    "car boat",
    "cars boats",
    "bread meat",
    "France Italy",
    "Paris London",
    "John Mary",
    "he she",
    "his her",
    "my your",
    "love hate",
    "was is",
)


def next_words() -> dict[str, str]:
    """Return the replacement of each word, in the order in which replacements are offered."""
    found: dict[str, str] = {}
    for line in ALIKE:
        words = line.lower().split()
        for word, other in zip(words, line.split()[1:] + line.split()[:1], strict=True):
            found.setdefault(word, other)
    return found


NEXT = next_words()
PLACE = {word: place for place, word in enumerate(NEXT)}


def for_one_alike(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each replacement of a word by a similar one, and the new text.

    In a name, such as cat → dog, only letters are next to the arrow.
    """
    known = [word for word in WORD.finditer(text) if word[0].lower() in NEXT]
    for word in sorted(known, key=lambda word: PLACE[word[0].lower()]):
        yield in_place(text, word, NEXT[word[0].lower()])


def for_its_neighbour(text: str) -> Iterator[tuple[str, str]]:
    """Yield names and texts with a word replaced by the one before it, the last word first."""
    for other, word in reversed(list(pairwise(WORD.finditer(text)))):
        yield in_place(text, word, other[0])


def for_the_letter_before(text: str) -> Iterator[tuple[str, str]]:
    """Yield names and texts with a letter or digit replaced by the one before it, last first."""
    for other, letter in reversed(list(pairwise(LETTER.finditer(text)))):
        yield in_place(text, letter, other[0])


def in_place(text: str, word: re.Match[str], other: str) -> tuple[str, str]:
    """Return the name of a replacement, and the text with `word` replaced by `other`."""
    other = other[0].upper() + other[1:] if word[0][0].isupper() else other
    return f"{word[0]} → {other}", text[: word.start()] + other + text[word.end() :]


def texts_beside(reader: Reader, text: str) -> dict[str, str]:
    """Return texts with one word of a text replaced, by the name of the replacement.

    They have as many tokens as the text, as far as is known before the model has read them. A word
    is replaced by its neighbour only if the text has no words with a similar one, and a letter only
    if every token is a letter.
    """
    with suppress(ValueError):  # the model may have no tokens for a text
        tokens = reader.begin(text)
        length = len(tokens)
        in_letters = all(token.is_special or len(token.text) == 1 for token in tokens)
        ways = [for_the_letter_before] if in_letters else [for_one_alike, for_its_neighbour]
        for way_of in ways:
            tried = islice(way_of(text), MOST_TRIED)
            fit = (way for way in tried if way[1] != text and len(reader.begin(way[1])) == length)
            if found := dict(islice(fit, MOST)):
                return found
    return {}
