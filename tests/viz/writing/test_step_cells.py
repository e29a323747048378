import numpy as np
import pytest

from headlight.viz import CacheRows, cache_player
from tests.viz.unpacking import unpack

STATES = np.array([[[3, 0], [3, 0]], [[1, 3], [4, 3]]], np.uint8)  # (steps, layers, positions)
ROWS = CacheRows("Own", STATES, ["layer 1", "layer 2"], ["<start>", "<b>"])


def test_states_and_words_travel_with_it():
    picture = cache_player([ROWS, ROWS], ["first", "second"], start=1)
    header, data = unpack(picture)
    assert np.frombuffer(data, np.uint8).tolist() == [*STATES.ravel(), *STATES.ravel()]
    assert header["rows"][0] == {
        "title": "Own", "layers": ["layer 1", "layer 2"], "tokens": ["<start>", "<b>"]
    }  # fmt: skip
    assert (header["steps"], header["start"], len(header["words"])) == (["first", "second"], 1, 5)
    assert (picture.numbers["Own"].array() == STATES).all()


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"steps, layers and tokens are \(1, 2, 2\)"):
        cache_player([ROWS], ["first"])
