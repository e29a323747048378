"""Play cells whose states change from step to step, such as the positions of a cache."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.numbers import Numbers

PART = Part.next_to(__file__, "Cells, step by step")


@dataclass(frozen=True)
class CellRows:
    """A table of cells: `states` (steps, rows, columns) are the numbers of their states.

    `groups` are texts in boxes next to the title. A cell shows its text [row][column] only while it
    is in state 3, new at this step.
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

    `steps` say what each step does. `states` are the names of the states 0 to 4: not reached yet,
    held, closed, new at this step, and gone; a state that does not occur needs no name. The picture
    opens at step `start`, from 0.
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
