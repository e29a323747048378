"""Cells whose states change from step to step, such as positions of a cache, to play."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.numbers import Numbers

PART = Part.next_to(__file__, "Cells, step by step")


@dataclass(frozen=True)
class CellRows:
    """A table of cells, with the number of each cell's state at each step [step, row, column].

    `groups` are boxes under the title. A cell has its text [row][column] in state 3 only.
    """

    title: str
    states: np.ndarray
    rows: Sequence[str]
    columns: Sequence[str]
    groups: Sequence[str] = ()
    texts: Sequence[Sequence[str]] = ()


def step_cells(
    tables: Sequence[CellRows], steps: Sequence[str], states: Sequence[str], *, start: int = 0
) -> CanvasPicture:
    """Draw tables of cells one step at a time.

    `steps` say what each step does. `states` name the five states by their numbers: not reached
    yet, held, closed, new at this step, and gone; one without a name does not occur. The picture
    opens at step `start`.
    """
    header = {
        "tables": [
            {name: value for name, value in vars(part).items() if name != "states"}
            for part in tables
        ],
        "steps": steps,
        "states": states,
        "start": start,
    }
    played = [str(step + 1) for step in range(len(steps))]
    numbers = {
        part.title: Numbers(
            part.states.astype(np.float32),
            {"step": played, "row": part.rows, "column": part.columns},
        )
        for part in tables
    }
    array = np.concatenate([part.states.ravel() for part in tables]).astype(np.uint8)
    return CanvasPicture.pack(PART, header, array, height=420, numbers=numbers)
