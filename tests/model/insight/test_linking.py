"""The token that leads, on weights made for it."""

import numpy as np
import pytest

from headlight.model.insight.linking import LEAST, leading_query, on_words, words_of
from headlight.model.library.pieces import as_pieces


def read(translator, text):
    return as_pieces(translator.read(text))


def looking(line, **looks):
    """Weights of a line in which each word named looks at another one, and the rest at the end."""
    weights = np.zeros((len(line), len(line)))
    weights[:, -1] = 1
    texts = [piece.text for piece in line]
    for query, (key, share) in looks.items():
        row = weights[texts.index(query)]
        row[texts.index(key)], row[-1] = share, 0
        row[texts.index(query)] = 1 - share
    return weights


@pytest.mark.parametrize(
    ("looks", "leads"),
    [
        ({"it": ("dog", 0.6)}, "it"),
        ({"it": ("dog", 0.6), "hungry": ("dog", 0.9)}, "it"),
        ({"it": ("was", 0.6)}, None),  # a function word
        ({"it": ("dog", 0.45)}, None),  # it looks more at itself
        ({"hungry": ("dog", 0.9)}, None),  # there is a pronoun, which looks elsewhere
    ],
)
def test_a_pronoun_leads_if_it_looks_most_at_a_content_word(shipped, looks, leads):
    line = read(shipped, "The dog ate the meat because it was hungry.")
    query = leading_query(looking(line, **looks), line)
    assert (query is None) if leads is None else line[query].text == leads


def test_without_a_pronoun_a_content_word_leads(shipped):
    line = read(shipped, "The dog ate the meat.")
    weights = looking(line, dog=("meat", 0.7), ate=("dog", 0.9), the=("meat", 1.0))
    assert line[leading_query(weights, line)].text == "ate"


def test_a_weight_below_the_least_is_no_link(shipped):
    line = read(shipped, "The dog ate the meat because it was hungry.")
    it, dog = 6, 1
    for share, leads in ((LEAST + 0.01, it), (LEAST - 0.01, None)):
        weights = np.full((len(line), len(line)), (1 - share) / (len(line) - 1))
        weights[:, dog] = share
        assert leading_query(weights, line) == leads


def test_words_are_whole_and_without_the_signs_around_them(shipped):
    line = read(shipped, "“It's a rabbit”, he didn't say.")
    words = [word for word in words_of(line) if word.is_written]
    assert [word.text for word in words] == ["It's", "a", "rabbit", "he", "didn't", "say"]
    assert [word.text for word in words if word.is_pronoun] == ["It's", "he"]
    assert [word.text for word in words if word.is_content] == ["rabbit"]


def test_every_token_is_in_one_word_so_that_sums_stay(shipped):
    line = read(shipped, "Anna Kowalski paid 1,249.50 euros (on 14 March), didn't she?")
    words = words_of(line)
    assert sorted(at for word in words for at in word.pieces) == list(range(len(line)))
    weights = np.random.default_rng(0).random((3, len(line)))
    sums = on_words(weights, words)
    np.testing.assert_allclose(sums.sum(axis=-1), weights.sum(axis=-1))
    for column, word in enumerate(words):
        expected = sum(weights[:, at] for at in word.pieces)
        np.testing.assert_allclose(sums[:, column], expected)
