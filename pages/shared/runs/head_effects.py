"""What a model loses without one of its heads."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from model.insight.ablation import head_removals
from model.trace import Kind
from pages.shared.runs.arrays import as_array
from pages.shared.runs.door import model_call
from pages.shared.runs.run import ModelRun

Effects = Mapping[Kind, np.ndarray]  # (layers, heads), in nats; NaN if not measured yet
Report = Callable[[Effects, float], None]  # takes what is known, and the share of the work


@model_call()
def removal_effects(run: ModelRun, place: int | None, _report: Report) -> Effects:
    """Return the change of a run's objective without each head, on top of its edits.

    With a `place` it is that of one of the objective's tokens alone. `_report` is called after each
    layer.
    """
    shape = run.reader.shape
    effects = {kind: np.full(size, np.nan) for kind, size in shape.kinds.items()}
    objective = run.objective if place is None else run.objective.alone(place)
    removals = head_removals(run.reader, run.tokens, run.changes, objective)
    for done, (site, change) in enumerate(removals, start=1):
        effects[site.kind][site.layer] = as_array(change)
        _report(effects, done / len(shape.sites))
    return effects
