import numpy as np

from headlight.pages.parts.inside.lens_map import lens_map
from tests.viz.unpacking import unpack

WORDS = [[["a", "<b>"], ["c", "a"]], [["d", "a"], ["c", "d"]]]  # (layers, positions, places)
PROBABILITIES = np.array([[[0.5, 0.25], [0.75, 0.125]], [[1, 0], [0.5, 0.5]]])
RANKS = np.array([[9, 1], [1, 1]])
SETTLED = np.array([1, 0])
NAMES = {"layers": ["embedding", "layer 1"], "read": ["<start>", "x"]}


def test_words_and_numbers_travel_as_they_are():
    picture = lens_map(WORDS, PROBABILITIES, RANKS, SETTLED, **NAMES)
    header, body = unpack(picture)
    assert header == {**NAMES, "words": WORDS, "ranks": RANKS.tolist(), "settled": [1, 0]}
    assert np.frombuffer(body, "<f4").tolist() == PROBABILITIES.ravel().tolist()
    likeliest = picture.numbers["probability of the likeliest"].array()
    assert (likeliest == PROBABILITIES[..., 0]).all()
