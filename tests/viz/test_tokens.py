import numpy as np
import pytest

from headlight.model.tokens import Token
from headlight.viz import (
    attention_heatmap,
    attention_lines,
    compared_maps,
    head_grid,
    probability_bars,
)
from headlight.viz.tokens import aligned, and_written, check_sizes


def test_sizes_that_fit_pass():
    check_sizes(np.zeros((2, 3)), ["a", "b"], ["c", "d", "e"])
    check_sizes(np.zeros((5, 4, 2, 3)), ["a", "b"], ["c", "d", "e"])


@pytest.mark.parametrize(
    ("queries", "keys", "message"),
    [
        (["a"], ["c", "d", "e"], "2 queries but there are 1 tokens"),
        (["a", "b"], ["c"], "3 keys but there are 1 tokens"),
    ],
)
def test_sizes_that_do_not_fit_name_both_numbers(queries, keys, message):
    with pytest.raises(ValueError, match=message):
        check_sizes(np.zeros((2, 3)), queries, keys)


def test_a_label_has_what_is_read_and_what_is_written_if_anything_is():
    assert and_written(["elle", "→", "."], ["était", "x", ""]) == ["elle → était", "→ → x", "."]


def test_queries_that_read_the_same_token_correspond_whatever_they_write():
    first = and_written(["elle", "était", "trop"], ["était", "trop", "."])
    second = and_written(["elle", "trop"], ["trop", "vite"])
    assert aligned(first, second) == [(0, 0), (1, None), (2, 1)]


def test_words_that_change_places_leave_the_one_between_them_matched():
    texts = "Le garçon voit la fille .", "La fille voit le garçon ."
    first, second = (text.split() for text in texts)
    for pairs in (aligned(first, second), aligned(second, first)):
        assert [pair for pair in pairs if None not in pair] == [(2, 2), (5, 5)]


@pytest.mark.parametrize(
    "picture",
    [
        lambda weights, tokens: attention_heatmap(weights, tokens),
        lambda weights, tokens: attention_lines(weights, ["a", "b"], tokens),
        lambda weights, tokens: head_grid(weights[None, None], tokens),
        lambda weights, tokens: compared_maps(
            weights, weights, (["a", "b"], tokens), (tokens,) * 2
        ),
        lambda weights, tokens: probability_bars({"run": weights[0]}, tokens),
    ],
)
def test_tokens_that_are_no_strings_are_refused(picture):
    tokens = [Token(4, "a", 0, 1), Token(5, "b", 2, 3)]
    with pytest.raises(ValueError, match=r"\[token\.text for token in tokens\]"):
        picture(np.zeros((2, 2)), tokens)
