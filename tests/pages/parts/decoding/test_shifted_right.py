import numpy as np

from headlight.pages.parts.decoding.shifted_right import shifted_right
from tests.viz.unpacking import unpack

READ, WANTED, FAVOURITES = ["<start>", "a"], ["a", "<end>"], ["b", "<end>"]


def test_positions_travel_in_order():
    picture = shifted_right(np.array([0.25, 0.5]), np.array([0.75, 0.5]), READ, WANTED, FAVOURITES)
    header, values = unpack(picture, "<f4")
    assert header == {
        "read": READ,
        "wanted": WANTED,
        "favourites": FAVOURITES,
        "same": [False, True],
    }
    assert values.tolist() == [0.25, 0.5, 0.75, 0.5]


def test_rounding_does_not_make_a_token_another_and_equal_texts_can_be_two_tokens():
    favourite = np.array([0.5 + 1e-7, 0.75])
    picture = shifted_right(np.array([0.5, 0.5]), favourite, READ, WANTED, WANTED)
    assert unpack(picture)[0]["same"] == [True, False]
