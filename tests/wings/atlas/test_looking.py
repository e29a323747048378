"""Searching the sentences kept."""

import sys

import pytest

from headlight.model.corpus import CorpusLine
from headlight.model.translator import load
from headlight.wings.atlas.counting import is_punctuation
from headlight.wings.atlas.looking import SEARCHED, TRIED, has_word, search


@pytest.mark.parametrize(
    ("wanted", "text", "found"),
    [
        ("it", "Is it?", True),
        ("it", "With a city", False),
        ("it", "IT'S", True),
        ("?", "Is it?", True),
        ("'s", "it's", True),
        ("'s", "it'snow", False),
        ("a.b", "a.b", True),
        ("a.b", "axb", False),
        ("", "any", False),
    ],
)
def test_a_word_is_no_part_of_a_longer_one(wanted, text, found):
    assert has_word(CorpusLine(0, text), wanted) == found
    assert has_word(CorpusLine(0, "-", text), wanted) == found


def test_a_word_that_was_looked_for_is_kept_nowhere():
    word = "".join(["a", " word"])
    held = sys.getrefcount(word)
    assert has_word(CorpusLine(0, "This is a word."), word)
    assert not is_punctuation(word)
    assert sys.getrefcount(word) == held


def test_few_sentences_are_read_of_many(monkeypatch):
    reader, times = load("en-fr"), []
    tokenized = reader.tokenized
    monkeypatch.setattr(reader, "tokenized", lambda *a, **k: times.append(a) or tokenized(*a, **k))
    lines = [CorpusLine(number, "It rains.", "Il pleut.") for number in range(500)]
    looked, read = search(reader, lines, "it")
    assert read == lines[:SEARCHED]
    assert len(times) == SEARCHED
    assert {look.places for look in looked if look.kind == "encoder"} == {SEARCHED}
    with pytest.raises(ValueError, match="None of the sentences kept"):
        search(reader, lines, "it", most=1)
    assert len(times) == SEARCHED + TRIED
