"""What heads and cells are worth by one backward pass, beside what doing without them does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch

from model.insight.ablation import cell_removals
from model.insight.estimate import Gap, estimated_closings, estimated_removals, gaps
from model.reader import Objective
from model.trace import Kind, Site
from pages.shared.runs.arrays import as_array
from pages.shared.runs.door import model_call
from pages.shared.runs.readers import explained
from pages.shared.runs.run import ModelRun

Head = tuple[Kind, int, int]  # with layer and head, from 0


@dataclass(frozen=True)
class Closings:
    """What closing cells of a head changes, in nats, as estimated and as measured: (N,) each.

    `cells` are queries and keys, and `weights` theirs; `largest` are those of their rows. They are
    `open` cells, or some of them.
    """

    cells: list[tuple[int, int]]
    estimated: np.ndarray
    true: np.ndarray
    weights: np.ndarray
    largest: np.ndarray
    open: int


def measured_by(run: ModelRun, place: int | None) -> Objective | None:
    """Return what effects are measured on, with a `place` one token of it alone."""
    objective = run.objective
    return objective if place is None or objective is None else objective.alone(place)


@model_call("Estimating …")
def estimated_effects(run: ModelRun, place: int | None) -> Mapping[Kind, np.ndarray]:
    """Return the estimates for what `removal_effects` measures, (layers, heads) by kind.

    Raise ValueError for a model or a text of which there is no gradient.
    """
    try:
        found = estimated_removals(run.reader, run.tokens, run.changes, measured_by(run, place))
    except Exception as error:
        raise explained(error) from error
    return {
        kind: np.stack([as_array(found[Site(kind, layer)]) for layer in range(layers)])
        for kind, (layers, _) in run.reader.shape.kinds.items()
    }


@model_call("Taking the gaps apart …")
def gaps_of(run: ModelRun, place: int | None, heads: tuple[Head, ...]) -> list[Gap]:
    """Return where the true effects of some heads leave their estimates."""
    sites = [(Site(kind, layer), head) for kind, layer, head in heads]
    return gaps(run.reader, run.tokens, sites, run.changes, measured_by(run, place))


@model_call("Closing cell after cell …")
def closed_cells(run: ModelRun, place: int | None, head: Head, most: int) -> Closings:
    """Return what closing cells of a head changes, of `most` so many.

    Of more, they are those at even steps from the largest estimate to the smallest.
    """
    kind, layer, number = head
    site, objective = Site(kind, layer), measured_by(run, place)
    asked = (run.reader, run.tokens, site)
    estimates = estimated_closings(*asked, run.changes, objective)[number].cpu()  # (Q, K)
    cells = (~estimates.isnan()).nonzero()  # (N, 2)
    values = estimates[cells[:, 0], cells[:, 1]]
    order = values.abs().argsort(descending=True, stable=True)
    steps = torch.linspace(0, len(order) - 1, min(most, len(order))).round().long()
    order = order[steps]
    chosen = [(query, key) for query, key in cells[order].tolist()]
    true = [*cell_removals(*asked, number, chosen, objective, run.changes)]
    weights = as_array(run.trace.site_weights(site)[number])
    rows = np.array(chosen, dtype=int).reshape(-1, 2)
    return Closings(
        chosen,
        as_array(values[order]),
        as_array(torch.cat(true)) if true else np.zeros(0, np.float32),
        weights[rows[:, 0], rows[:, 1]],
        weights.max(axis=1)[rows[:, 0]],
        len(cells),
    )
