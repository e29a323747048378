import numpy as np
import pytest

from headlight.viz import measure_bars, probability_bars
from headlight.viz.colors import SIGNS
from tests.viz.unpacking import unpack


def test_every_run_has_a_bar_for_every_token_in_the_order_of_the_text():
    runs = {"before": np.array([0.5, 0.25]), "after": np.array([0.125, 0.875])}
    picture = probability_bars(runs, ["the", "the"])
    header, values = unpack(picture, "<f4")
    assert header["tokens"] == ["the", "the"]
    assert header["runs"] == ["before", "after"]
    assert len(set(header["colors"])) == 2
    np.testing.assert_array_equal(values.reshape(2, 2), list(runs.values()))
    assert picture.numbers["probability"].axes["run"] == ["before", "after"]


def test_more_runs_than_colours_are_refused():
    with pytest.raises(ValueError, match="4 runs are more than the 3 colours"):
        probability_bars(dict.fromkeys("abcd", np.ones(1)), ["a"])


@pytest.mark.parametrize("wrong", [-0.5, 3.0])
def test_what_is_no_probability_is_refused(wrong):
    with pytest.raises(ValueError, match="from 0 to 1"):
        probability_bars({"before": np.array([0.5, wrong])}, ["a", "b"])


def test_only_measures_below_0_have_a_colour_for_them():
    below = {"correlation": -0.5, "unknown": float("nan")}
    signed, plain = (
        unpack(measure_bars({"this text": run}, dict.fromkeys(run, 1.0)))[0]
        for run in (below, {"correlation": 0.5})
    )
    assert signed["below"] == SIGNS
    assert plain["below"] is None


def test_measures_of_several_runs_have_bars_with_ends_of_their_own():
    runs = {"on": {"score": 0.75, "loss": 0.5}, "off": {"score": 0.25, "loss": 3.0}}
    picture = measure_bars(runs, {"score": 1.0, "loss": 3.25})
    header, values = unpack(picture, "<f4")
    assert header["tokens"] == ["score", "loss"]
    assert header["limits"] == [1.0, 3.25]
    assert header["first"] == 0
    np.testing.assert_array_equal(values.reshape(2, 2), [[0.75, 0.5], [0.25, 3.0]])
    assert picture.numbers["measure"].axes == {"run": ["on", "off"], "measure": ["score", "loss"]}
