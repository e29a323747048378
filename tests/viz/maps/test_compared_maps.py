import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.viz import Change, clearest_change, compared_maps, largest_changes
from headlight.viz.maps.compared_maps import axes_of, differences
from headlight.viz.tokens import aligned
from tests.viz.unpacking import unpack

TOKENS = st.lists(st.sampled_from(["a", "b", "c", "the"]), min_size=1, max_size=8)
FIRST = ["the", "cat", "is", "tired", "."], ["the", "cat", "is", "tired", "."]
SECOND = ["the", "cat", "is", "w", "ide", "."], ["the", "cat", "is", "w", "ide", "."]


def some(tokens, seed=0):
    queries, keys = tokens
    return np.random.default_rng(seed).dirichlet(np.ones(len(keys)), len(queries))


def read(picture):
    """The header, and the numbers of both maps and of their difference."""
    header, numbers = unpack(picture, "<f4")
    return header, maps_of(header, numbers)


def maps_of(header, numbers):
    """Both maps and their difference, from all numbers in a row."""
    shapes = [(len(queries), len(keys)) for queries, keys in header["tokens"]]
    assert shapes[2] == (len(header["rows"]), len(header["columns"]))
    ends = np.cumsum([rows * columns for rows, columns in shapes])
    assert ends[-1] == len(numbers)
    parts = np.split(numbers, ends[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


@given(TOKENS, TOKENS)
def test_an_alignment_has_every_token_once_and_pairs_equal_ones_in_order(first, second):
    pairs = aligned(first, second)
    assert [one for one, _ in pairs if one is not None] == list(range(len(first)))
    assert [other for _, other in pairs if other is not None] == list(range(len(second)))
    assert all(first[one] == second[other] for one, other in pairs if None not in (one, other))


@given(TOKENS, TOKENS)
def test_an_alignment_does_not_depend_on_which_list_comes_first(first, second):
    there, back = (
        {pair for pair in pairs if None not in pair}
        for pairs in (aligned(first, second), aligned(second, first))
    )
    assert there == {(one, other) for other, one in back}


def test_what_was_replaced_stands_alone_on_either_side():
    assert aligned(FIRST[0], SECOND[0]) == [
        (0, 0), (1, 1), (2, 2), (3, None), (None, 3), (None, 4), (4, 5),
    ]  # fmt: skip


@given(TOKENS, TOKENS, st.integers(0, 9))
def test_a_map_differs_from_itself_nowhere(queries, keys, seed):
    tokens = queries, keys
    weights = some(tokens, seed)
    _, (first, second, difference) = read(compared_maps(weights, weights, tokens, tokens))
    assert (difference == 0).all()
    np.testing.assert_allclose(first, weights, atol=1e-7)
    assert (first == second).all()
    assert largest_changes(weights, weights, tokens, tokens) == []


@given(TOKENS, TOKENS, TOKENS, TOKENS)
def test_changed_over_every_difference_has_the_other_sign(queries, keys, others, other_keys):
    one, other = (queries, keys), (others, other_keys)
    maps = some(one), some(other, 1)

    def by_place(maps, tokens, turned):
        """The differences by the places of their cells in the two maps."""
        rows, columns = axes_of(*tokens)
        result = differences(*maps, rows, columns)
        turn = (lambda pair: pair[::-1]) if turned else (lambda pair: pair)
        return {
            (turn(row), turn(column)): result[at, to]
            for at, row in enumerate(rows)
            for to, column in enumerate(columns)
            if not np.isnan(result[at, to])
        }

    there = by_place(maps, (one, other), turned=False)
    back = by_place(maps[::-1], (other, one), turned=True)
    assert there == {place: -value for place, value in back.items()}


@given(TOKENS, TOKENS, TOKENS, TOKENS)
def test_a_cell_has_a_number_only_where_both_maps_have_it(queries, keys, others, other_keys):
    one, other = (queries, keys), (others, other_keys)
    maps = some(one), some(other, 1)
    header, (_, _, difference) = read(compared_maps(*maps, one, other))
    for at, row in enumerate(header["rows"]):
        for to, column in enumerate(header["columns"]):
            if None in row or None in column:
                assert np.isnan(difference[at, to])
            else:
                expected = maps[1][row[1], column[1]] - maps[0][row[0], column[0]]
                assert difference[at, to] == pytest.approx(expected, abs=1e-7)


def test_the_largest_changes_are_those_of_the_maps_each_number_rounded_by_itself():
    maps = some(FIRST), some(SECOND, 1)
    changes = largest_changes(*maps, FIRST, SECOND, most=100)
    assert len(changes) == 16  # four of the tokens are in both
    sizes = [abs(change.difference) for change in changes]
    assert sizes == sorted(sizes, reverse=True)
    for change in changes:
        one, key = FIRST[0].index(change.query), FIRST[1].index(change.key)
        other, other_key = SECOND[0].index(change.query), SECOND[1].index(change.key)
        assert f"{change.first:.3f}" == f"{maps[0][one, key]:.3f}"
        assert f"{change.second:.3f}" == f"{maps[1][other, other_key]:.3f}"
        expected = maps[1][other, other_key] - maps[0][one, key]
        assert change.difference == pytest.approx(expected, abs=5.1e-4)
    header, (*_, difference) = read(compared_maps(*maps, FIRST, SECOND))
    clearest = clearest_change(changes)
    assert tuple(header["clearest"]) == clearest.place
    assert difference[clearest.place] == pytest.approx(clearest.difference, abs=2e-3)


def test_the_clearest_change_is_between_two_tokens_if_there_is_one():
    own = Change("too", "too", 0.2, 0.4, 0.2, (1, 1))
    other = Change("it", "street", 0.3, 0.4, 0.1, (0, 2))
    assert clearest_change([own, other, other._replace(key="dog")]) == other
    assert clearest_change([own]) == own
    assert clearest_change([]) is None


def test_two_texts_with_nothing_in_common_have_no_difference():
    strange = ["x", "y"], ["z"]
    _, (_, _, difference) = read(compared_maps(some(FIRST), some(strange), FIRST, strange))
    assert np.isnan(difference).all()
    assert largest_changes(some(FIRST), some(strange), FIRST, strange) == []


def test_long_texts_stay_small():
    """The longest texts that the models read, with not one token in common."""
    first, second = ([f"{name}{position}" for position in range(256)] for name in "ab")
    picture = compared_maps(
        some((first, first)), some((second, second)), (first,) * 2, (second,) * 2
    )
    assert len(picture.data) < 2_000_000


def test_tokens_and_titles_travel_as_they_are():
    odd = ["<b>", "“x”"], ["#000001"]
    header, _ = read(compared_maps(some(odd), some(odd), odd, odd, titles=("A: <i>", "B")))
    assert header["tokens"] == [list(odd)] * 3
    assert header["titles"] == ["A: <i>", "B"]
