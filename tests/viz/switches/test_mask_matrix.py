import numpy as np

from headlight.viz import mask_matrix
from headlight.viz.switches.mask_matrix import BLOCKED, CLOSED, OPENED, VISIBLE
from tests.viz.unpacking import unpack

TRAINED = np.array([[True, False], [True, True]])


def test_a_mask_is_visible_or_blocked():
    _, states = unpack(mask_matrix(TRAINED, ["a", "b"], ["a", "b"]))
    assert list(states) == [VISIBLE, BLOCKED, VISIBLE, VISIBLE]


def test_what_differs_from_the_trained_mask_is_marked():
    visible = np.array([[False, True], [True, True]])
    _, states = unpack(mask_matrix(visible, ["a", "b"], ["a", "b"], trained=TRAINED))
    assert list(states) == [CLOSED, OPENED, VISIBLE, VISIBLE]


def test_tokens_and_whether_it_can_be_changed_travel_with_it():
    header, _ = unpack(mask_matrix(TRAINED, ["a", "<b>"], ["c", "c"], editable=True, label="Mine"))
    assert header == {
        "queries": ["a", "<b>"],
        "keys": ["c", "c"],
        "editable": True,
        "label": "Mine",
        "words": ["blocked", "visible", "closed by you", "opened by you"],
    }
