"""Draw numbers at the steps of several runs, such as the loss of trainings."""

from collections.abc import Mapping, Sequence

import numpy as np

from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.curves.position_lines import COLORS
from headlight.viz.numbers import Numbers

PART = Part.next_to(__file__, "Training curves")

Points = Sequence[float] | np.ndarray
Curve = tuple[Points, Points]  # the steps, and the number at each step


def training_curves(
    runs: Mapping[str, Mapping[str, Curve]],
    *,
    limits: Mapping[str, tuple[float, float]] | None = None,
    axis: str = "step",
    at: tuple[str, str] = ("at step ", ""),
) -> CanvasPicture:
    """Draw a panel for each measure, and in it a line for each run; the last run is bold.

    `runs` holds the curves by the run's name and then the panel's title; runs may differ in their
    steps and panels. `limits` are the ends of the vertical axis of some panels; the axes of the
    others fit their numbers. `axis` is the title of the horizontal axes. `at` holds the words
    written before and after a step.
    Drawn again, as during a training, the picture keeps the step that is pointed at.
    There are at most as many runs as `COLORS`.
    """
    panels = list(dict.fromkeys(title for lines in runs.values() for title in lines))
    lines, numbers = [], []
    for run, measured in enumerate(runs.values()):
        for title, (steps, values) in measured.items():
            lines.append({"run": run, "panel": panels.index(title), "count": len(steps)})
            numbers += [np.asarray(steps, "<f4"), np.asarray(values, "<f4")]
    header = {
        "runs": list(runs),
        "panels": [
            {"title": title, "limits": list((limits or {}).get(title, ())) or None}
            for title in panels
        ],
        "lines": lines,
        "colors": list(COLORS),
        "axis": axis,
        "at": list(at),
    }
    body = np.concatenate(numbers) if numbers else None
    measured = {
        f"{title}: {name}": Numbers(
            np.asarray(values, np.float32), {axis: [f"{step:g}" for step in steps]}
        )
        for name, lines in runs.items()
        for title, (steps, values) in lines.items()
    }
    return CanvasPicture.pack(PART, header, body, height=280, numbers=measured)
