import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.model.insight.rows import DEFINITIONS, PATTERNS, badges, pattern_scores

SIZE = 6


def shifted(offset):
    """Weights of a head that looks `offset` tokens away, and at itself where there is none."""
    weights = np.zeros((SIZE, SIZE))
    for query in range(SIZE):
        key = query + offset
        weights[query, key if 0 <= key < SIZE else query] = 1
    return weights


def column(key):
    weights = np.zeros((SIZE, SIZE))
    weights[:, key] = 1
    return weights


UNIFORM = np.full((SIZE, SIZE), 1 / SIZE)
LOWER = np.tril(np.ones((SIZE, SIZE)))
CAUSAL_UNIFORM = LOWER / LOWER.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("weights", "kind", "expected"),
    [
        (shifted(-1), "encoder", ["previous token"]),
        (shifted(-1), "decoder", ["previous token"]),
        (shifted(1), "encoder", ["next token"]),
        (np.eye(SIZE), "encoder", ["same token"]),
        (np.eye(SIZE), "decoder", ["same token"]),
        (np.eye(SIZE), "cross", ["diagonal"]),
        (np.eye(SIZE)[::-1], "cross", []),
        (column(0), "encoder", ["first token"]),
        (column(0), "decoder", ["first token"]),
        (column(0), "cross", ["first token"]),
        (column(SIZE - 1), "encoder", ["end token"]),
        (column(SIZE - 1), "cross", ["end token"]),
        (UNIFORM, "encoder", ["broad"]),
        (UNIFORM, "cross", ["broad"]),
        (CAUSAL_UNIFORM, "decoder", ["broad"]),
    ],
)
def test_a_pure_pattern_gets_its_badge_and_no_other(weights, kind, expected):
    result = badges(weights, kind)
    assert [name for name, _ in result] == expected
    assert all(score == pytest.approx(1) for _, score in result)


def test_a_score_is_the_mean_weight_it_is_said_to_be():
    weights = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [0.1, 0.6, 0.3]])
    scores = pattern_scores(weights, "encoder")
    assert scores["previous token"] == pytest.approx((0.2 + 0.6) / 2)
    assert scores["next token"] == pytest.approx((0.5 + 0.5) / 2)
    assert scores["same token"] == pytest.approx((0.5 + 0.3 + 0.3) / 3)
    assert scores["first token"] == pytest.approx((0.2 + 0.1) / 2)
    assert scores["end token"] == pytest.approx((0.0 + 0.5) / 2)


def test_the_first_row_of_the_decoder_counts_for_nothing():
    """It can see its own token only, whatever the head."""
    weights = np.array([[1.0, 0.0], [0.7, 0.3]])
    scores = pattern_scores(weights, "decoder")
    assert scores["same token"] == pytest.approx(0.3)
    assert scores["first token"] == pytest.approx(0.7)


def test_badges_come_highest_first_and_above_their_threshold():
    weights = np.full((4, 4), 0.0)
    weights[:, 0], weights[:, 1] = 0.6, 0.4
    assert badges(weights, "cross") == [("first token", pytest.approx(0.6))]


def test_every_pattern_is_defined_with_the_threshold_it_uses():
    for pattern in PATTERNS:
        assert f"at least {pattern.threshold}" in DEFINITIONS[pattern.name]


@given(
    st.integers(1, 7), st.integers(1, 7), st.integers(0, 10_000),
    st.sampled_from(["encoder", "decoder", "cross"]),
)  # fmt: skip
def test_scores_are_between_zero_and_one(queries, keys, seed, kind):
    keys = keys if kind == "cross" else queries
    weights = np.random.default_rng(seed).dirichlet(np.full(keys, 0.3), queries)
    if kind == "decoder":
        weights = np.tril(weights) + 1e-12 * np.eye(queries)
        weights /= weights.sum(axis=1, keepdims=True)
    for score in pattern_scores(weights, kind).values():
        assert -1e-9 <= score <= 1 + 1e-9
