import numpy as np
import pytest
from plotly.colors import unlabel_rgb

from tests.viz.unpacking import unpack
from viz import head_effects

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
    assert header["effects"][0]["colors"][0][1] is None
    assert header["selected"] == ["encoder", 1, 0]


def test_losses_are_red_and_gains_blue_on_one_scale_around_white(header):
    assert header["limit"] == 2.0

    def color(kind, layer, head):
        return unlabel_rgb(header["effects"][kind]["colors"][layer][head])

    red, _, blue = color(0, 0, 0)
    assert red > blue + 50
    red, _, blue = color(0, 1, 0)
    assert blue > red + 10
    assert max(np.ptp(color(0, 1, 1)), 255 - min(color(0, 1, 1))) < 20
    # Twice the change is farther from white.
    assert sum(color(0, 0, 0)) < sum(color(1, 0, 1))


def test_effects_that_are_all_unknown_or_nothing_are_drawn():
    for value in (np.nan, 0.0):
        header, _ = unpack(head_effects({"cross": np.full((2, 3), value)}, labels=LABELS))
        assert header["limit"] == 0
        assert header["selected"] is None
