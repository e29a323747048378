import numpy as np
import pytest

from headlight.viz import head_effects
from tests.viz.unpacking import unpack

LABELS = {"encoder": "Encoder", "cross": "Cross"}
EFFECTS = {
    "encoder": np.array([[-2.0, np.nan], [0.5, 0.0]]),
    "cross": np.array([[1.0, -1.0]]),
}


@pytest.fixture
def header():
    return unpack(head_effects(EFFECTS, labels=LABELS, selected=("encoder", 1, 0)))[0]


def test_every_effect_travels_under_its_kind_and_unknown_ones_are_empty(header):
    kinds = [(kind["name"], kind["label"], kind["effects"]) for kind in header["effects"]]
    assert kinds == [
        ("encoder", "Encoder", [[-2.0, None], [0.5, 0.0]]),
        ("cross", "Cross", [[1.0, -1.0]]),
    ]
    assert header["selected"] == ["encoder", 1, 0]


def test_what_helped_is_blue_and_what_was_in_the_way_red(header):
    assert header["limit"] == 2.0
    for colors in header["colors"].values():
        for end, more in ((colors[0], "blue"), (colors[-1], "red")):
            red, _, blue = (int(end[at : at + 2], 16) for at in (1, 3, 5))
            assert (red > blue) == (more == "red")


def test_effects_that_are_all_unknown_or_nothing_are_drawn():
    for value in (np.nan, 0.0):
        header, _ = unpack(head_effects({"cross": np.full((2, 3), value)}, labels=LABELS))
        assert header["limit"] == 0
        assert header["selected"] is None


def test_the_words_are_those_of_what_is_measured():
    header, _ = unpack(head_effects(EFFECTS, labels=LABELS, measure="logits", ends=("b", "a")))
    assert (header["measure"], header["ends"]) == ("logits", ["b", "a"])
