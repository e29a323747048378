"""Measures the effect of each head, or cell, on a model's prediction by removing it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from headlight.model.edits.attention import AS_TRAINED, Closed
from headlight.model.insight.scoring import log_probability, rows_at_once
from headlight.model.questions import Objective
from headlight.model.reader import Reader
from headlight.model.shape import Shape
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run, RunEdits, Site

NOTHING_TO_MEASURE = (
    "Without a prediction, the effect of a head cannot be measured: mask a word, or choose a model "
    "that predicts words."
)
ROWS_AT_ONCE = 16  # the most cells measured in one batch, so that long sentences fit into memory


@torch.inference_mode()
def head_removals(
    reader: Reader,
    trace: Trace,
    edits: RunEdits | None = None,
    objective: Objective | None = None,
) -> Iterator[tuple[Site, Tensor]]:
    """Yield, by attention block, how an objective changes without each head: (H,), in nats.

    By default, the objective is the reader's own for the trace. Each run over the trace's tokens
    lacks one head, in addition to `edits`. The heads of a layer are measured in one batch with a
    row for each head. Everything before their gates is the same in all rows, so it is computed for
    one row only. Raises ValueError if the trace has no objective.
    """
    objective, shape = objective or reader.objective(trace), reader.shape
    if objective is None:
        raise ValueError(NOTHING_TO_MEASURE)
    edits = edits or {}
    whole = log_probability(reader, trace, objective, Run(edits))  # (1,)
    for sites in sites_by_layer(shape):
        heads = [(site, head) for site in sites for head in range(shape.heads(site.kind))]
        most = rows_at_once(trace, len(heads))
        batches = [heads[first : first + most] for first in range(0, len(heads), most)]
        without = [
            log_probability(reader, trace, objective, Run(without_each_head(edits, rows, shape)))
            for rows in batches
        ]
        changes = torch.cat(without) - whole
        counts = [shape.heads(site.kind) for site in sites]
        yield from zip(sites, changes.split(counts), strict=True)


@torch.inference_mode()
def cell_removals(
    reader: Reader,
    trace: Trace,
    site: Site,
    head: int,
    cells: Sequence[tuple[int, int]],
    objective: Objective,
    edits: RunEdits | None = None,
) -> Iterator[Tensor]:
    """Yield, in blocks of cells, how an objective changes if one cell of a head is closed, in nats.

    A cell is a query and a key. Each run has one more cell closed, in addition to `edits`. The cell
    is closed before the softmax, so the other keys of its row get its weight.
    """
    edits = edits or {}
    size = len(trace.query_tokens(site)), len(trace.key_tokens(site))
    whole = log_probability(reader, trace, objective, Run(edits))  # (1,)
    most = rows_at_once(trace, ROWS_AT_ONCE)
    for first in range(0, len(cells), most):
        chosen = cells[first : first + most]
        closed = torch.zeros(len(chosen), reader.shape.heads(site.kind), *size, dtype=torch.bool)
        for row, (query, key) in enumerate(chosen):
            closed[row, head, query, key] = True  # (B, H, Q, K), a row for each cell
        run = Run({**edits, site: Closed(edits.get(site, AS_TRAINED), closed)})
        yield log_probability(reader, trace, objective, run) - whole


def sites_by_layer(shape: Shape) -> list[list[Site]]:
    """Return each layer's attention blocks: one, or two in a decoder with cross-attention."""
    layers: dict[tuple[bool, int], list[Site]] = {}
    for site in shape.sites:
        layers.setdefault((site.kind == "encoder", site.layer), []).append(site)
    return list(layers.values())


def without_each_head(edits: RunEdits, heads: Sequence[tuple[Site, int]], shape: Shape) -> RunEdits:
    """Return the edits of a batch with a row for each of `heads`, which is removed in that row."""
    without = dict(edits)
    for site in {site for site, _ in heads}:
        edit = edits.get(site, AS_TRAINED)
        gate = torch.ones(shape.heads(site.kind)) if edit.gate is None else edit.gate
        gates = gate.repeat(len(heads), 1)  # (B, H)
        for row, (head_site, head) in enumerate(heads):
            if head_site == site:
                gates[row, head] = 0
        without[site] = replace(edit, gate=gates)
    return without
