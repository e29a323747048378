"""Refusal of edits that do not fit a model, for those who write them by hand."""

import math
from collections.abc import Mapping
from numbers import Real

import torch
from torch import Tensor

from headlight.model.trace import SELF, AttentionEdit, PositionEdit, RunEdits, Shape, Site


def check_edits(edits: RunEdits | None, shape: Shape, missing: Mapping[str, str]) -> None:
    """Raise ValueError for edits of parts that a model of this shape lacks, or of wrong sizes.

    `missing` says why the model cannot move positions, if it cannot. Cells may be those of a longer
    or a shorter text; see `attention.fit_cells`.
    """
    if not isinstance(edits, Mapping | None):
        raise ValueError(f"Give edits as {{site: AttentionEdit(...)}}, not {type(edits).__name__}.")
    sides = [side for side in SELF if shape.layers(side)]
    taken = dict.fromkeys(shape.sites, AttentionEdit) | dict.fromkeys(sides, PositionEdit)
    for place, edit in (edits or {}).items():
        # A plain tuple is equal to a Site, but not found by those that ask for one.
        if not (isinstance(place, Site | str) and isinstance(edit, taken.get(place, ()))):
            layers = ", ".join(f"{kind} 0 to {shape.layers(kind) - 1}" for kind in shape.kinds)
            raise ValueError(
                f"This model takes no {type(edit).__name__} at {place!r}: it takes an "
                f"AttentionEdit at a Site ({layers}), or a PositionEdit at {' or '.join(sides)}."
            )
        if isinstance(edit, AttentionEdit):
            check_edit(edit, place, shape.heads(place.kind))
        elif why_not := missing.get("move positions"):
            raise ValueError(why_not)


def check_edit(edit: AttentionEdit, site: Site, heads: int) -> None:
    """Raise ValueError for gates, a scale or cells that do not fit a site with so many heads."""
    scale, gate = edit.scale, edit.gate
    if scale is not None and not (isinstance(scale, Real) and math.isfinite(scale)):
        raise ValueError(f"The scale of {site} has to be a number, such as 0.125.")
    if gate is not None and not (
        isinstance(gate, Tensor)
        and gate.shape[-1:] == (heads,)
        and bool(((gate >= 0) & (gate <= 1)).all())  # not so for NaN
    ):
        raise ValueError(f"The gate of {site} has to be a tensor of {heads} numbers from 0 to 1.")
    for cells in (edit.block, edit.open):
        if cells is not None and not (
            isinstance(cells, Tensor)
            and cells.dtype == torch.bool
            and cells.dim() in (2, 3, 4)
            and cells.shape[-3:-2] in ((), (1,), (heads,))
            and (site.kind == "cross" or cells.size(-2) == cells.size(-1))
        ):
            raise ValueError(
                f"The cells of {site} have to be a tensor of bool with as many queries and keys as "
                f"the text has tokens: (queries, keys), or ({heads}, queries, keys) by head."
            )
