"""Texts that differ from a given one in a word, for a model to read beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice, pairwise

from model.reader import Reader

WORD = re.compile(r"[^\W\d_]+")
MOST = 8  # texts that are offered
MOST_TRIED = 40
# Words that can stand for each other in most sentences, the most telling ones first; each is
# exchanged for the next.
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
    """Return what words are exchanged for, in the order in which that is offered."""
    found: dict[str, str] = {}
    for line in ALIKE:
        words = line.lower().split()
        for word, other in zip(words, line.split()[1:] + line.split()[:1], strict=True):
            found.setdefault(word, other)
    return found


NEXT = next_words()
PLACE = {word: place for place, word in enumerate(NEXT)}


def for_one_alike(text: str) -> Iterator[tuple[str, str]]:
    """Yield texts with a word exchanged for one like it, each after what that is called.

    A name, such as cat → dog, has letters alone beside the arrow.
    """
    known = [word for word in WORD.finditer(text) if word[0].lower() in NEXT]
    for word in sorted(known, key=lambda word: PLACE[word[0].lower()]):
        yield in_place(text, word, NEXT[word[0].lower()])


def for_its_neighbour(text: str) -> Iterator[tuple[str, str]]:
    """Yield texts with a word exchanged for the one before it, the last first; see above."""
    for other, word in reversed(list(pairwise(WORD.finditer(text)))):
        yield in_place(text, word, other[0])


def in_place(text: str, word: re.Match[str], other: str) -> tuple[str, str]:
    """Return what an exchange is called, and the text with another word in place of one."""
    other = other[0].upper() + other[1:] if word[0][0].isupper() else other
    return f"{word[0]} → {other}", text[: word.start()] + other + text[word.end() :]


def texts_beside(reader: Reader, text: str) -> dict[str, str]:
    """Return some texts with one word of a text exchanged, by what they are called.

    They have as many tokens, as far as is known before the model has read them. A word's neighbour
    is put in its place only if there are no words alike to exchange.
    """
    with suppress(ValueError):  # what the model has no tokens for
        length = len(reader.begin(text))
        for ways in (for_one_alike, for_its_neighbour):
            tried = islice(ways(text), MOST_TRIED)
            fit = (way for way in tried if way[1] != text and len(reader.begin(way[1])) == length)
            if found := dict(islice(fit, MOST)):
                return found
    return {}
