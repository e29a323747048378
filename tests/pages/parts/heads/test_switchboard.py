import numpy as np

from headlight.pages.parts.heads.switchboard import switchboard
from tests.viz.unpacking import unpack

LABELS = {"encoder": "Encoder", "cross": "Cross"}


def test_every_gate_travels_under_its_kind_layer_and_head():
    gates = {"encoder": np.array([[1, 0.5], [0, 1]]), "cross": np.ones((1, 2))}
    board = switchboard(gates, labels=LABELS, groups={"cross": 2}, selected=("encoder", 1, 0))
    header, _ = unpack(board)
    assert header["kinds"] == [
        {"name": "encoder", "label": "Encoder", "gates": [[1, 0.5], [0, 1]], "group": 1},
        {"name": "cross", "label": "Cross", "gates": [[1, 1]], "group": 2},
    ]
    assert header["selected"] == ["encoder", 1, 0]
