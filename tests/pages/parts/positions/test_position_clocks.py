import numpy as np

from headlight.pages.parts.positions.position_clocks import position_clocks
from tests.viz.unpacking import unpack

ANGLES = np.arange(6)[:, None] * np.array([1.0, 0.5])
HANDS = np.stack([np.sin(ANGLES), np.cos(ANGLES)], axis=-1)  # (positions, pairs, 2)


def test_the_browser_gets_every_hand_and_how_far_it_turns():
    picture = position_clocks(HANDS, [0, 7], [2.0, 1.0], offset=2)
    header, numbers = unpack(picture, "<f4")
    scene = {"pairs": [0, 7], "turns": [2.0, 1.0], "offset": 2, "positions": 4}
    assert header == {"names": None, **scene}
    hands = numbers.reshape(6, 2, 2)
    np.testing.assert_allclose(hands, HANDS, atol=1e-6)


def test_hands_of_two_vectors_travel_with_their_names():
    later = "key", "query", -HANDS
    picture = position_clocks(HANDS, [0, 7], [2.0, 1.0], offset=2, later=later)
    header, numbers = unpack(picture, "<f4")
    assert header["names"] == ["key", "query"]
    np.testing.assert_allclose(numbers.reshape(2, 6, 2, 2), [HANDS, -HANDS], atol=1e-6)
    np.testing.assert_allclose(picture.numbers["query"].array(), -HANDS)
