"""The edits of several texts as those of one batch, a row for each text."""

from collections.abc import Hashable, Sequence

import torch
from torch import Tensor

from headlight.model.attention import UNCHANGED, fit_cells
from headlight.model.edits.edits import opens_the_future
from headlight.model.trace import AttentionEdit, PositionEdit, RunEdits, Site


def batch_of(edits: RunEdits) -> Hashable | None:
    """Return what edits must have in common to be in one batch; None if they must be alone.

    Gates, cells and biases can differ from text to text.
    """
    at_sites = [edit for edit in edits.values() if isinstance(edit, AttentionEdit)]
    if opens_the_future(edits) or any(
        (edit.scale, edit.weights, edit.steps) != (None, None, None) for edit in at_sites
    ):
        return None
    return frozenset((side, edit) for side, edit in edits.items() if isinstance(edit, PositionEdit))


def stacked(edits: Sequence[RunEdits]) -> RunEdits:
    """Return the edits of texts of one `batch_of`; equal ones stay as they are."""
    if all(each is edits[0] for each in edits) or not any(edits):
        return edits[0]
    places = dict.fromkeys(place for each in edits for place in each)
    return {
        place: stacked_at([each.get(place, UNCHANGED) for each in edits])
        if isinstance(place, Site)
        else edits[0][place]
        for place in places
    }


def stacked_at(edits: Sequence[AttentionEdit]) -> AttentionEdit:
    """Return the edits of each text at a site as one, with gates (B, H) and cells (B, H, Q, K)."""
    gates = [edit.gate for edit in edits]
    kept = next((torch.ones_like(gate) for gate in gates if gate is not None), None)
    return AttentionEdit(
        gate=None if kept is None else torch.stack([kept if g is None else g for g in gates]),
        block=stacked_cells([edit.block for edit in edits]),
        open=stacked_cells([edit.open for edit in edits]),
        bias=stacked_cells([edit.bias for edit in edits]),
    )


def stacked_cells(cells: Sequence[Tensor | None]) -> Tensor | None:
    """Return the cells (Q, K) or (H, Q, K) of each text as (B, H, Q, K); False or 0 if missing."""
    given = [each for each in cells if each is not None]
    if not given:
        return None
    queries, keys = (max(each.size(dim) for each in given) for dim in (-2, -1))
    nothing = torch.zeros_like(given[0])
    rows = [fit_cells(nothing if each is None else each, 0, queries, keys) for each in cells]
    return torch.stack(torch.broadcast_tensors(*(row.view(-1, queries, keys) for row in rows)))
