import numpy as np
import pytest

from headlight.viz import attention_text
from tests.viz.unpacking import unpack

WEIGHTS = np.array([[0.1, 0.9, 0.0], [0.25, 0.25, 0.5]], np.float32)
QUERIES, KEYS = ["<start> → un", "un → chat"], ["▁a", "▁c", "at"]


def test_the_text_holds_the_weights_under_the_labels_of_all_pictures():
    picture = attention_text(WEIGHTS, QUERIES, KEYS, lit=("key", 2))
    header, values = unpack(picture, "<f4")
    np.testing.assert_array_equal(values.reshape(2, 3), WEIGHTS)
    assert (header["queries"], header["keys"], header["lit"]) == (QUERIES, KEYS, ["key", 2])
    assert picture.numbers["weight"].axes == {"query": QUERIES, "key": KEYS}
    assert "0.900" in header["words"]


def test_a_query_stands_as_the_token_that_it_writes_and_pieces_without_marks():
    header, _ = unpack(attention_text(WEIGHTS, QUERIES, KEYS, words=[5, 5]))
    queries, keys = header["blocks"]
    assert queries == {"texts": ["un", "chat"], "words": [5, 5]}
    assert keys == {"texts": ["a", "c", "at"], "words": [0, 1, 1]}
    header, _ = unpack(attention_text(WEIGHTS, ["<start> → un", "un"], KEYS))
    assert header["blocks"][0]["texts"] == ["un", "…"]  # it was stopped before it wrote more


def test_queries_that_look_at_each_other_are_one_text():
    header, _ = unpack(attention_text(np.eye(2), ["a", "b"], words=[0, 0]))
    assert header["blocks"] == [{"texts": ["a", "b"], "words": [0, 0]}]


def test_what_does_not_fit_or_is_not_known_is_refused():
    with pytest.raises(ValueError, match="3 tokens, but 2 numbers of words"):
        attention_text(WEIGHTS, QUERIES, KEYS, key_words=[0, 1])
    with pytest.raises(ValueError, match="Some weights are NaN"):
        attention_text(WEIGHTS * np.nan, QUERIES, KEYS)


def test_a_frame_in_a_notebook_is_as_high_as_its_text_and_no_higher_than_a_screen():
    short, long = (attention_text(np.eye(n), ["word"] * n).height for n in (6, 500))
    assert 100 < short < 250 < long <= 640
