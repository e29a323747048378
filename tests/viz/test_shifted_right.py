import json
import struct

import numpy as np
import pytest

from viz import shifted_right

READ, WANTED, FAVOURITES = ["<start>", "a"], ["a", "<end>"], ["b", "<end>"]


def test_positions_travel_in_order():
    picture = shifted_right(np.array([0.25, 0.5]), np.array([0.75, 0.5]), READ, WANTED, FAVOURITES)
    (length,) = struct.unpack("<I", picture.data[:4])
    header = json.loads(picture.data[4 : 4 + length])
    assert header == {
        "read": READ,
        "wanted": WANTED,
        "favourites": FAVOURITES,
        "same": [False, True],
    }
    values = np.frombuffer(picture.data[4 + length :], np.float32)
    assert values.tolist() == [0.25, 0.5, 0.75, 0.5]


def test_numbers_of_positions_that_differ_are_refused():
    with pytest.raises(ValueError, match="2 read tokens, 1 wanted tokens"):
        shifted_right(np.ones(2), np.ones(2), READ, WANTED[:1], FAVOURITES)


def test_rounding_does_not_make_a_token_another_and_equal_texts_can_be_two_tokens():
    favourite = np.array([0.5 + 1e-7, 0.75])
    picture = shifted_right(np.array([0.5, 0.5]), favourite, READ, WANTED, WANTED)
    (length,) = struct.unpack("<I", picture.data[:4])
    assert json.loads(picture.data[4 : 4 + length])["same"] == [True, False]
