import numpy as np
import pytest

from viz import probability_bars


def rows(chart):
    return chart.data.to_dict("records")


def test_every_run_has_a_bar_for_every_token_in_the_order_of_the_text():
    chart = probability_bars(
        {"before": np.array([0.5, 0.25]), "after": np.array([0.1, 0.9])}, ["the", "the"]
    )
    assert rows(chart) == [
        {"token": "1  the", "run": "before", "probability": 0.5},
        {"token": "2  the", "run": "before", "probability": 0.25},
        {"token": "1  the", "run": "after", "probability": 0.1},
        {"token": "2  the", "run": "after", "probability": 0.9},
    ]
    spec = chart.to_dict()
    assert spec["encoding"]["y"]["sort"] is None
    assert spec["encoding"]["x"]["scale"]["domain"] == [0, 1]
    assert spec["encoding"]["color"]["scale"]["domain"] == ["before", "after"]


def test_a_run_that_does_not_fit_its_tokens_is_refused():
    with pytest.raises(ValueError, match="after has 3 probabilities but there are 2 tokens"):
        probability_bars({"after": np.zeros(3)}, ["a", "b"])
