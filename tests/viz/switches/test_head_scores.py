import warnings

import numpy as np
import torch

from headlight.viz import head_scores
from tests.viz.unpacking import unpack

SCORES = {"decoder": np.array([[0.0, 0.5], [1.0, 0.25]]), "cross": np.array([[0.75, 0.1]])}
LABELS = {"decoder": "Decoder", "cross": "Cross"}


def test_every_score_travels_under_its_kind():
    picture = head_scores(SCORES, labels=LABELS, name="Copying", selected=("cross", 0, 1))
    header = unpack(picture)[0]
    assert [(kind["name"], kind["label"], kind["scores"]) for kind in header["scores"]] == [
        ("decoder", "Decoder", [[0.0, 0.5], [1.0, 0.25]]),
        ("cross", "Cross", [[0.75, 0.1]]),
    ]
    assert header["name"] == "Copying"
    assert header["selected"] == ["cross", 0, 1]


def test_the_numbers_saved_are_the_scores():
    picture = head_scores(SCORES, labels=LABELS, name="Copying")
    assert set(picture.numbers) == set(LABELS.values())
    np.testing.assert_array_equal(picture.numbers["Decoder"].values, SCORES["decoder"])


def test_a_figure_has_a_unit_limits_and_holes():
    holes = {"cross": np.array([[1.5, np.nan]])}
    picture = head_scores(holes, labels=LABELS, name="entropy", unit="nats", limits=(0.5, 2))
    header = unpack(picture)[0]
    assert header["scores"][0]["scores"] == [[1.5, None]]
    assert (header["unit"], header["limits"]) == ("nats", [0.5, 2.0])


def test_tensors_are_taken_as_arrays_are():
    halves = {"cross": np.array([[0.5, 0.25]])}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = head_scores({"cross": torch.tensor([[0.5, 0.25]])}, labels=LABELS, name="Copying")
    assert drawn == head_scores(halves, labels=LABELS, name="Copying")
