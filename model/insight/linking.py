"""Finds a word of an English text that a head clearly links to another, such as a pronoun."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from headlight.model.insight.doubt import ENGLISH, words
from headlight.model.library.pieces import Piece, is_of_a_word, whole_words

LEAST = 0.2  # the smallest share of a token's attention that counts as a clear link
PRONOUNS = words("it he she they him her them his its their")
# Words that name nothing, such as articles, auxiliary verbs and conjunctions.
FUNCTION_WORDS = (
    ENGLISH
    | PRONOUNS
    | words(
        """
        because although though while until before after again between through during since once
        each other another such own same against behind near soon if yet still hers theirs myself
        himself herself itself themselves
        """
    )
)
SIGNS = '.,;:!?…"“”()'


class Word(NamedTuple):
    """A word of a line without punctuation around it, or a token that is no word."""

    text: str
    pieces: tuple[int, ...]  # the positions of the word's tokens in the line
    is_written: bool  # True for a word, False for punctuation or a special token

    @property
    def is_pronoun(self) -> bool:
        return self.is_written and self.text.lower().replace("’", "'").split("'")[0] in PRONOUNS

    @property
    def is_content(self) -> bool:
        """True for an English word that names something: no function word, pronoun or number."""
        is_named = self.text.lower().replace("’", "'") not in FUNCTION_WORDS
        return (
            self.is_written
            and is_named
            and not self.is_pronoun
            and any(map(str.isalpha, self.text))
        )


class Linked(NamedTuple):
    """Counts of the sentences in which each head links a pronoun to its noun."""

    sentences: int  # the number of all sentences
    hits: np.ndarray  # (layers, H) the number of sentences that each head links
    chance: float  # the number of sentences if a head picked another word at random


def words_of(line: Sequence[Piece]) -> list[Word]:
    """Return the words of a line; punctuation around a word and special tokens are separate."""
    result = []
    for _, group in groupby(range(len(line)), key=lambda at: line[at].word):
        places = list(group)
        written = [at for at in places if is_of_a_word(line[at])]
        inside = range(written[0], written[-1] + 1) if written else range(0)
        for at in places:
            if at not in inside:
                result.append(Word(line[at].text, (at,), False))
            elif at == inside[0]:
                (whole,) = whole_words([line[place] for place in inside])
                result.append(Word(whole.text.strip(SIGNS), tuple(inside), True))
    return result


def on_words(weights: np.ndarray, line: Sequence[Word]) -> np.ndarray:
    """Return the weights on words (..., W): the sums of the weights (..., K) on their tokens."""
    parts = [weights[..., list(word.pieces)].sum(axis=-1) for word in line]
    return np.stack(parts, axis=-1)


def leading_query(weights: np.ndarray, line: Sequence[Piece]) -> int | None:
    """Return the token of an English line that a head's `weights` (Q, K) link most clearly.

    Only tokens of pronouns are considered, or of content words in a line without pronouns. A token
    is linked if it looks most at another word, and that is a content word. Returns None if no token
    is linked, or if the strongest link is below `LEAST`.
    """
    both = words_of(line)
    sums = on_words(weights, both)  # (Q, W)
    leading = [word for word in both if word.is_pronoun] or [w for w in both if w.is_content]
    strengths = {
        query: sums[query].max()
        for word in leading
        for query in word.pieces
        if (key := both[sums[query].argmax()]) is not word and key.is_content
    }
    best = max(strengths, key=strengths.__getitem__, default=None)
    return best if best is not None and strengths[best] >= LEAST else None
