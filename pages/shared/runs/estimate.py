"""What heads, cells and parts of a decoder are worth, estimated, measured or added up."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch

from model.edits import HeadAddress
from model.insight.ablation import cell_removals
from model.insight.attribution import Attribution, attribute
from model.insight.estimate import Gap, estimated_closings, estimated_removals, gaps
from model.reader import Objective
from model.trace import Kind, Site
from pages.shared.runs.arrays import as_array
from pages.shared.runs.door import model_call
from pages.shared.runs.readers import explained
from pages.shared.runs.run import ModelRun


@dataclass(frozen=True)
class Closings:
    """The changes by closing single cells of a head, in nats, estimated and measured: (N,) each.

    `cells` are their queries and keys, `weights` their weights, and `largest` the largest weights
    in their rows. `open` is the number of cells that could be closed, which can be more.
    """

    cells: list[tuple[int, int]]
    estimated: np.ndarray
    true: np.ndarray
    weights: np.ndarray
    largest: np.ndarray
    open: int


def measured_by(run: ModelRun, place: int | None) -> Objective | None:
    """Return what effects are measured on; with a `place` it is only that token."""
    objective = run.objective
    return objective if place is None or objective is None else objective.alone(place)


@model_call("Estimating …")
def estimated_effects(run: ModelRun, place: int | None) -> Mapping[Kind, np.ndarray]:
    """Return the estimates for what `removal_effects` measures, (layers, heads) by kind.

    Raise ValueError for a model or a text that has no gradient.
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
def gaps_of(run: ModelRun, place: int | None, heads: tuple[HeadAddress, ...]) -> list[Gap]:
    """Return where the true effects of some heads differ from their estimates."""
    sites = [(Site(kind, layer), head) for kind, layer, head in heads]
    return gaps(run.reader, run.tokens, sites, run.changes, measured_by(run, place))


@model_call("Closing cell after cell …")
def closed_cells(run: ModelRun, place: int | None, head: HeadAddress, most: int) -> Closings:
    """Return the changes by closing single cells of a head, for at most `most` cells.

    If there are more, they are taken at even steps from the largest estimate to the smallest.
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


@model_call("Adding up …")
def attributed(run: ModelRun, row: int, token: int, other: int) -> Attribution:
    """Return what each part adds to the logit of `token` minus that of `other`, after a row."""
    return attribute(run.reader, run.tokens, row, token, other, run.changes)
