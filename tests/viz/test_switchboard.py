import json
import struct

import numpy as np

from viz import switchboard

LABELS = {"encoder": "Encoder", "cross": "Cross"}


def unpack(picture):
    (length,) = struct.unpack("<I", picture.data[:4])
    return json.loads(picture.data[4 : 4 + length])


def test_every_gate_travels_under_its_kind_layer_and_head():
    gates = {"encoder": np.array([[1, 0.5], [0, 1]]), "cross": np.ones((1, 2))}
    header = unpack(switchboard(gates, labels=LABELS, selected=("encoder", 1, 0)))
    assert header["kinds"] == [
        {"name": "encoder", "label": "Encoder", "gates": [[1, 0.5], [0, 1]]},
        {"name": "cross", "label": "Cross", "gates": [[1, 1]]},
    ]
    assert header["selected"] == ["encoder", 1, 0]


def test_nothing_need_be_selected():
    assert unpack(switchboard({"cross": np.ones((1, 2))}, labels=LABELS))["selected"] is None
