import numpy as np

from headlight.viz import switchboard
from tests.viz.unpacking import unpack

LABELS = {"encoder": "Encoder", "cross": "Cross"}


def test_every_gate_travels_under_its_kind_layer_and_head():
    gates = {"encoder": np.array([[1, 0.5], [0, 1]]), "cross": np.ones((1, 2))}
    header, _ = unpack(switchboard(gates, labels=LABELS, selected=("encoder", 1, 0)))
    assert header["kinds"] == [
        {"name": "encoder", "label": "Encoder", "gates": [[1, 0.5], [0, 1]]},
        {"name": "cross", "label": "Cross", "gates": [[1, 1]]},
    ]
    assert header["selected"] == ["encoder", 1, 0]
