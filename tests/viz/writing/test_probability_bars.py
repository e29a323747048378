import numpy as np
import pytest

from tests.viz.unpacking import unpack
from viz import probability_bars


def test_every_run_has_a_bar_for_every_token_in_the_order_of_the_text():
    runs = {"before": np.array([0.5, 0.25]), "after": np.array([0.125, 0.875])}
    picture = probability_bars(runs, ["the", "the"])
    header, values = unpack(picture, "<f4")
    assert header["tokens"] == ["the", "the"]
    assert header["runs"] == ["before", "after"]
    assert len(set(header["colors"])) == 2
    np.testing.assert_array_equal(values.reshape(2, 2), list(runs.values()))
    assert picture.numbers["probability"].axes["run"] == ["before", "after"]


def test_a_run_that_does_not_fit_its_tokens_is_refused():
    with pytest.raises(ValueError, match="after has 3 probabilities but there are 2 tokens"):
        probability_bars({"after": np.zeros(3)}, ["a", "b"])
