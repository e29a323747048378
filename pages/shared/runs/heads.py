"""The roles of a model's heads, and the effect of removing a head or closing a cell."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch

from headlight.model.edits import Edits, HeadAddress
from headlight.model.insight.ablation import (
    NOTHING_TO_MEASURE,
    cell_removals,
    head_removals,
)
from headlight.model.insight.attribution import Attribution, attribute
from headlight.model.insight.estimate import (
    Gap,
    estimated_closings,
    estimated_removals,
    gaps,
)
from headlight.model.insight.roles import LONGEST, SPECIAL, RoleScores, role_scores
from headlight.model.questions import Objective
from headlight.model.transformer.trace import Kind, Site
from headlight.pages.shared.runs.arrays import as_array
from headlight.pages.shared.runs.door import model_call
from headlight.pages.shared.runs.readers import errors_explained, reader
from headlight.pages.shared.runs.run import ModelRun

Effects = Mapping[Kind, np.ndarray]  # (layers, heads), in nats; NaN if not measured yet
Report = Callable[[Effects, float], None]  # takes the effects so far and the share done


@model_call("Testing every head …")
def head_roles(name: str, loading: int, seed: int, edits: Edits) -> RoleScores:
    """Return the scores of all heads of a model in the tests of roles, on random tokens.

    Of the `edits`, those of heads (off or faded) apply. Those of masks do not, because they are
    made for the visitor's text. `loading` tells apart models loaded under the same name. Raises
    ValueError if the model reads too few tokens.
    """
    model = reader(name)
    sites = Edits(gates=edits.gates).at_sites(model.shape, 2 * LONGEST + SPECIAL)
    with errors_explained():
        return role_scores(model, seed, sites)


def cost_of_removals(run: ModelRun) -> dict[str, int]:
    """Return how many runs it takes to remove each head in turn, and how many tokens each reads."""
    runs = sum(layers * heads for layers, heads in run.reader.shape.kinds.values())
    return {
        "runs": runs,
        "tokens": len(run.tokens().source_tokens) + len(run.tokens().target_tokens),
    }


@model_call()
def removal_effects(run: ModelRun, position: int | None, _report: Report) -> Effects:
    """Return how the likelihood of a run's text (its objective) changes if a head is removed.

    Each head is removed alone, and the run's own edits stay. With a `position`, only that one of
    the objective's tokens counts. `_report` is called after each layer.
    """
    shape = run.reader.shape
    effects: Effects = {kind: np.full(size, np.nan) for kind, size in shape.kinds.items()}
    removals = head_removals(run.reader, run.tokens(), run.changes(), measured_by(run, position))
    for done, (site, change) in enumerate(removals, start=1):
        effects[site.kind][site.layer] = as_array(change)
        _report(effects, done / len(shape.sites))
    return effects


@dataclass(frozen=True)
class Closings:
    """The effects (in nats) of closing N single cells of a head: `estimated` and `true`, (N,) each.

    `cells` has the query and key of each cell, `weights` (N,) the cells' weights, and `largest`
    (N,) the largest weight in each cell's row. `open` is how many cells could be closed in all.
    """

    cells: list[tuple[int, int]]
    estimated: np.ndarray
    true: np.ndarray
    weights: np.ndarray
    largest: np.ndarray
    open: int


def measured_by(run: ModelRun, position: int | None) -> Objective | None:
    """Return the tokens whose likelihood is measured; with a `position`, only the one there."""
    objective = run.objective()
    return objective if position is None or objective is None else objective.only(position)


@model_call("Estimating …")
def estimated_effects(run: ModelRun, position: int | None) -> Mapping[Kind, np.ndarray]:
    """Return estimates, by a gradient, of what `removal_effects` measures: (layers, heads) by kind.

    Raise ValueError for a model or a text for which there is no gradient.
    """
    with errors_explained():
        estimates = estimated_removals(
            run.reader, run.tokens(), run.changes(), measured_by(run, position)
        )
    return {
        kind: np.stack([as_array(estimates[Site(kind, layer)]) for layer in range(layers)])
        for kind, (layers, _) in run.reader.shape.kinds.items()
    }


@model_call("Splitting the gaps by cause …")
def gaps_of(run: ModelRun, position: int | None, heads: tuple[HeadAddress, ...]) -> list[Gap]:
    """Return, for each of `heads`, the gap between true and estimated effect, split by cause."""
    sites = [(Site(kind, layer), head) for kind, layer, head in heads]
    return gaps(run.reader, run.tokens(), sites, run.changes(), measured_by(run, position))


@model_call("Closing cell after cell …")
def closed_cells(run: ModelRun, position: int | None, head: HeadAddress, most: int) -> Closings:
    """Return the effects of closing single cells of a head, for at most `most` cells.

    If more cells are open, they are ordered by the size of their estimated effects, and cells at
    even steps of this order are taken.
    Raises ValueError if there is nothing to measure.
    """
    kind, layer, number = head
    if (objective := measured_by(run, position)) is None:
        raise ValueError(NOTHING_TO_MEASURE)
    site = Site(kind, layer)
    at_site = (run.reader, run.tokens(), site)
    estimates = estimated_closings(*at_site, run.changes(), objective)[number].cpu()  # (Q, K)
    cells = (~estimates.isnan()).nonzero()  # (N, 2)
    values = estimates[cells[:, 0], cells[:, 1]]
    order = values.abs().argsort(descending=True, stable=True)
    steps = torch.linspace(0, len(order) - 1, min(most, len(order))).round().long()
    order = order[steps]
    chosen = [(query, key) for query, key in cells[order].tolist()]
    true = [*cell_removals(*at_site, number, chosen, objective, run.changes())]
    weights = as_array(run.trace().site_weights(site)[number])
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
    """Return how much each part of the model adds to the logit of `token` minus that of `other`.

    The logits are those at position `row`.
    """
    return attribute(run.reader, run.tokens(), row, token, other, run.changes())
