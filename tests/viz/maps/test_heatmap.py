import numpy as np
import pytest

from headlight.viz import Behind, attention_heatmap, knockout_map, reading_map, word_heatmap
from tests.viz.unpacking import unpack

WEIGHTS = np.array([[0.1, 0.9, 0.0], [0.25, 0.25, 0.5]])


def read(picture):
    """The header and the values of a heatmap."""
    header, values = unpack(picture, "<f4")
    return header, values.reshape(len(header["rows"]), len(header["columns"]))


def test_queries_run_down_and_keys_run_across():
    header, values = read(attention_heatmap(WEIGHTS, ["look", "look"], ["a", "<b>", "a"]))
    assert (header["rows"], header["columns"]) == (["look", "look"], ["a", "<b>", "a"])
    assert header["axes"].startswith("Queries (looking) down, keys (looked at) across")
    np.testing.assert_array_equal(values, WEIGHTS.astype("float32"))


def test_without_keys_the_queries_look_at_each_other():
    header, _ = read(attention_heatmap(np.eye(2), ["a", "b"]))
    assert header["rows"] == header["columns"] == ["a", "b"]


def test_the_numbers_are_those_that_came():
    numbers = attention_heatmap(WEIGHTS, ["q", "r"], ["a", "b", "c"]).numbers["weight"]
    assert numbers.values is WEIGHTS
    assert numbers.axes == {"query": ["q", "r"], "key": ["a", "b", "c"]}


def test_colours_run_from_zero_to_the_asked_maximum():
    header, _ = read(attention_heatmap(WEIGHTS, ["q", "r"], ["a", "b", "c"]))
    assert (header["limit"], header["diverging"], header["name"]) == (1, False, "weight")
    own, _ = read(attention_heatmap(WEIGHTS, ["q", "r"], ["a", "b", "c"], maximum=None))
    assert own["limit"] == pytest.approx(0.9)


def test_blocked_cells_have_no_number_to_be_coloured_by():
    blocked = np.array([[False, True, False], [True, False, False]])
    scores = np.where(blocked, -np.inf, WEIGHTS)
    picture = attention_heatmap(
        scores, ["q", "r"], ["a", "b", "c"], blocked=blocked, maximum=None, name="score"
    )
    header, values = read(picture)
    np.testing.assert_array_equal(np.isnan(values), blocked)
    np.testing.assert_allclose(values[~blocked], WEIGHTS[~blocked])
    assert header["limit"] == pytest.approx(0.5)
    np.testing.assert_array_equal(picture.numbers["score"].values, scores)


def test_a_map_of_blocked_cells_alone_still_has_a_scale():
    blocked = np.ones((2, 3), bool)
    options = {"blocked": blocked, "maximum": None}
    header, values = read(attention_heatmap(WEIGHTS, ["q", "r"], ["a", "b", "c"], **options))
    assert np.isnan(values).all()
    assert header["limit"] > 0


def test_a_diverging_scale_is_as_long_to_both_sides():
    change = np.array([[-0.25, 0.1, 0.0], [0.0, 0.2, -0.2]])
    options = {"name": "change", "diverging": True, "maximum": None}
    header, _ = read(attention_heatmap(change, ["q", "r"], ["a", "b", "c"], **options))
    assert (header["limit"], header["diverging"], header["name"]) == (0.25, True, "change")
    nothing, _ = read(attention_heatmap(0 * change, ["q", "r"], ["a", "b", "c"], **options))
    assert nothing["limit"] > 0


def test_a_map_of_512_tokens_is_small():
    weights = np.random.default_rng(0).dirichlet(np.ones(512), 512)
    picture = attention_heatmap(weights, [f"t{number}" for number in range(512)])
    assert len(picture.data) < 1_100_000


def test_words_are_compared_on_a_scale_of_both_signs():
    header, values = read(word_heatmap(np.array([[1, -0.5], [-0.5, 1]]), ["warm", "cold"]))
    assert (header["limit"], header["diverging"], header["name"]) == (1, True, "cosine")
    assert values[0, 1] == -0.5


def test_what_is_behind_a_mean_travels_with_it():
    heads = np.stack([WEIGHTS, WEIGHTS[::-1]])  # (H, Q, K)
    behind = Behind(heads.max(axis=0), heads.argmax(axis=0), ["head 1", "head 2"])
    tokens = ["q", "r"], ["a", "b", "c"]
    picture = attention_heatmap(heads.mean(axis=0), *tokens, name="mean", behind=behind)
    header, values = unpack(picture, "<f4")
    mean, largest, which = values.reshape(3, 2, 3)
    assert (header["name"], header["behind"]) == ("mean", ["head 1", "head 2"])
    np.testing.assert_allclose(mean, heads.mean(axis=0))
    np.testing.assert_allclose(largest, heads.max(axis=0))
    np.testing.assert_array_equal(which, heads.argmax(axis=0))
    assert picture.numbers["mean"].size == 6


def test_a_knockout_map_reads_what_a_token_loses_without_a_word():
    changes = np.array([[-3.0, 0.5, np.nan]])
    header, values = read(knockout_map(changes, ["<start> → il"], ["he", "ran", "<end>"]))
    assert (header["name"], header["verb"]) == ("change in nats", "without")
    assert (header["limit"], header["diverging"]) == (3.0, True)
    assert header["absent"] == "not measured yet"
    np.testing.assert_array_equal(values.reshape(changes.shape), changes)


def test_a_reading_map_has_colours_on_both_sides_of_0_only_if_some_numbers_are_below():
    numbers = np.array([[2.0, 0.5], [0.0, 1.0]])
    tokens = ["<start> → il", "il → court"], ["he", "ran"]
    header, values = read(reading_map(numbers, *tokens, name="rollout"))
    assert (header["name"], header["verb"], header["limit"]) == ("rollout", "from", 2.0)
    assert not header["diverging"]
    np.testing.assert_array_equal(values, numbers)
    assert read(reading_map(-numbers, *tokens, name="−gradient × weight"))[0]["diverging"]
