import numpy as np

from tests.viz.unpacking import unpack
from viz import switchboard

LABELS = {"encoder": "Encoder", "cross": "Cross"}


def test_every_gate_travels_under_its_kind_layer_and_head():
    gates = {"encoder": np.array([[1, 0.5], [0, 1]]), "cross": np.ones((1, 2))}
    header, _ = unpack(switchboard(gates, labels=LABELS, selected=("encoder", 1, 0)))
    assert header["kinds"] == [
        {"name": "encoder", "label": "Encoder", "gates": [[1, 0.5], [0, 1]]},
        {"name": "cross", "label": "Cross", "gates": [[1, 1]]},
    ]
    assert header["selected"] == ["encoder", 1, 0]


def test_kinds_may_have_different_numbers_of_heads():
    shapes = {"encoder": (32, 32), "cross": (24, 16)}
    gates = {kind: np.random.default_rng(0).random(shape) for kind, shape in shapes.items()}
    header, _ = unpack(switchboard(gates, labels=LABELS))
    for kind in header["kinds"]:
        np.testing.assert_array_equal(kind["gates"], gates[kind["name"]])


def test_nothing_need_be_selected():
    header, _ = unpack(switchboard({"cross": np.ones((1, 2))}, labels=LABELS))
    assert header["selected"] is None
