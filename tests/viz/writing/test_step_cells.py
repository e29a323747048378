"""Cells whose states change from step to step."""

import numpy as np

from headlight.viz import CellRows, step_cells
from tests.viz.unpacking import unpack

STATES = np.array([[[3, 0], [3, 0]], [[1, 3], [4, 3]]], np.uint8)  # [step, row, column]
NAMES = ["not yet", "held", "", "new", "gone"]
TABLE = CellRows(
    "Own", STATES, ["layer 1", "layer 2"], ["<start>", "<b>"], ["heads 1–2"], [["a", "b"]]
)


def test_states_and_words_travel_with_it():
    picture = step_cells([TABLE, TABLE], ["first", "second"], NAMES, start=1)
    header, data = unpack(picture)
    assert np.frombuffer(data, np.uint8).tolist() == [*STATES.ravel(), *STATES.ravel()]
    assert header["tables"][0] == {
        "title": "Own", "rows": ["layer 1", "layer 2"], "columns": ["<start>", "<b>"],
        "groups": ["heads 1–2"], "texts": [["a", "b"]],
    }  # fmt: skip
    assert (header["steps"], header["start"]) == (["first", "second"], 1)
    assert header["states"] == NAMES
    assert (picture.numbers["Own"].array() == STATES).all()
