"""How often each encoder head links a pronoun to its noun, in sentences where both are known."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from headlight.model.insight.linking import Linked, on_words, words_of
from headlight.model.library.pieces import as_pieces
from headlight.model.reader import Reader
from headlight.wings.atlas.statistics import HERE, Statistic

PRONOUN = Statistic(
    "pronoun to its noun",
    "the share of sentences in which a pronoun looks more at the noun that it stands for than at "
    "any other word (the weights of a word's pieces are added up)",
    "share",
    ("encoder",),
    HERE,
)


class Reference(NamedTuple):
    """An English sentence, and the indices of a pronoun and its noun among its words."""

    sentence: str
    pronoun: int
    noun: int


def read_references(lines: Iterable[str]) -> list[Reference]:
    """Read one reference a line: a sentence and two indices, with tabs between them."""
    parts = (line.rstrip("\n").split("\t") for line in lines)
    return [Reference(sentence, int(pronoun), int(noun)) for sentence, pronoun, noun in parts]


def linked(reader: Reader, references: Sequence[Reference]) -> Linked:
    """Return how often each encoder head links a pronoun to its noun."""
    hits, chance = np.zeros(reader.shape.kinds["encoder"], int), 0.0
    for sentence, pronoun, noun in references:
        trace = reader.trace(sentence)
        line = [word for word in words_of(as_pieces(trace.source_tokens)) if word.is_written]
        queries = trace.weights("encoder").numpy()[:, :, list(line[pronoun].pieces)]
        weights = on_words(queries, line).mean(axis=2)  # (L, H, W)
        weights[..., pronoun] = -1
        hits += weights.argmax(axis=-1) == noun
        chance += 1 / (len(line) - 1)
    return Linked(len(references), hits, chance)
