import numpy as np

from headlight.viz import attention_lines
from tests.viz.unpacking import unpack

WEIGHTS = np.array([[0.1, 0.9, 0.0], [0.25, 0.25, 0.5]], np.float32)


def test_the_lines_open_with_all_tokens_or_with_one_lit():
    tokens = ["q", "r"], ["a", "b", "c"]
    header, values = unpack(attention_lines(WEIGHTS, *tokens), "<f4")
    assert header["lit"] is None
    np.testing.assert_array_equal(values.reshape(2, 3), WEIGHTS)
    header, _ = unpack(attention_lines(WEIGHTS, *tokens, lit=("key", 2)))
    assert header["lit"] == ["key", 2]
