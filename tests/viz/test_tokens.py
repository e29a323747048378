import numpy as np
import pytest

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
