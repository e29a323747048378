"""Checks that edits of tensors fit a model, and joins the edits of several texts for a batch."""

from collections.abc import Collection, Hashable, Mapping, Sequence

import torch
from torch import Tensor

from headlight.model.edits.attention import AS_TRAINED, AttentionEdit, fit_cells
from headlight.model.edits.positions import PositionEdit
from headlight.model.shape import SELF, Ability, Shape
from headlight.model.transformer.attention import Edit
from headlight.model.transformer.trace import RunEdits, Site

MOST_SCALE = 1_000_000  # the largest factor on scores
MOST_NUMBERS = 2**30  # the most numbers in a tensor: enough for 16 heads on 8,192 tokens


def check_edits(edits: RunEdits | None, shape: Shape, missing: Mapping[Ability, str]) -> None:
    """Raise ValueError for edits of parts that a model of this shape lacks, or of wrong sizes.

    `missing` is that of the reader, and may say why the model cannot move positions. Cells may be
    given for a longer or a shorter text; see `fit_cells`.
    """
    sides = [side for side in SELF if shape.layers(side)]
    taken = dict.fromkeys(shape.sites, Edit) | dict.fromkeys(sides, PositionEdit)
    for place, edit in (edits or {}).items():
        # A plain tuple equals a Site, but code that checks for the type Site would ignore it.
        if not (isinstance(place, Site | str) and isinstance(edit, taken.get(place, ()))):
            raise ValueError(
                f"This model takes no {type(edit).__name__} at {place!r}: it takes an "
                f"AttentionEdit at a Site ({layers_of(shape)}), or a PositionEdit at "
                f"{' or '.join(sides)}."
            )
        if isinstance(place, Site):
            if isinstance(edit, AttentionEdit):
                check_edit(edit, place, shape.heads(place.kind))
        elif why_not := missing.get("move positions"):
            raise ValueError(why_not)


def check_sites(sites: Collection[Site] | None, shape: Shape) -> None:
    """Raise ValueError for an attention block that a model of this shape lacks."""
    for site in sites or ():
        if site not in shape.sites:
            raise ValueError(f"This model has no {site!r}; it has the sites {layers_of(shape)}.")


def layers_of(shape: Shape) -> str:
    """Return the layers of each kind of attention, counted from 0, such as 'encoder 0 to 5'."""
    return ", ".join(f"{kind} 0 to {shape.layers(kind) - 1}" for kind in shape.kinds)


def check_edit(edit: AttentionEdit, site: Site, heads: int) -> None:
    """Raise ValueError for gates, a scale, cells, weights or a bias of wrong size or value."""
    scale, gate = edit.scale, edit.gate
    if scale is not None and not abs(scale) <= MOST_SCALE:  # `not <=` also refuses NaN
        raise ValueError(f"The scale of {site} has to be a number up to {MOST_SCALE:,}.")
    if gate is not None and not (
        gate.shape == (heads,) and bool(((gate >= 0) & (gate <= 1)).all())  # False for NaN
    ):
        raise ValueError(f"The gate of {site} has to be a tensor of {heads} numbers from 0 to 1.")
    for what, kind, given in (
        ("cells", "bool", edit.block),
        ("cells", "bool", edit.open),
        ("weights", "finite numbers from 0", edit.weights),
        ("biases", "finite numbers", edit.bias),
    ):
        if given is not None and not (
            (given.dtype == torch.bool) == (kind == "bool")
            and given.numel() <= MOST_NUMBERS
            and bool(given.isfinite().all())
            and (what != "weights" or bool((given >= 0).all()))
            and given.dim() > 1
            and given.shape[:-2] in ((), (1,), (heads,), (1, 1), (1, heads))
            and (site.kind == "cross" or given.size(-2) == given.size(-1))
        ):
            raise ValueError(
                f"The {what} of {site} have to be a tensor of {kind} with as many queries and keys "
                f"as the text has tokens: (queries, keys), or ({heads}, queries, keys) by head."
            )


def opens_the_future(edits: RunEdits) -> bool:
    """Return whether edits let a decoder position see a later one; then no cache can be used."""
    return any(
        isinstance(edit, AttentionEdit)
        and edit.open is not None
        and bool(edit.open.triu(diagonal=1).any())
        for site, edit in edits.items()
        if isinstance(site, Site) and site.kind == "decoder"
    )


def batch_of(edits: RunEdits) -> Hashable | None:
    """Return a key that is equal for edits that can run in one batch; None if they must run alone.

    Within a batch, gates, cells and biases can differ from text to text.
    """
    at_sites = [edit for edit in edits.values() if isinstance(edit, Edit)]
    if opens_the_future(edits) or not all(map(can_differ, at_sites)):
        return None
    return frozenset((side, edit) for side, edit in edits.items() if isinstance(edit, PositionEdit))


def can_differ(edit: Edit) -> bool:
    """Return whether an attention block's edit can differ from text to text of a batch."""
    return isinstance(edit, AttentionEdit) and edit.scale is None and edit.weights is None


def stacked(edits: Sequence[RunEdits]) -> RunEdits:
    """Join the edits of several texts into those of one batch; their `batch_of` must be equal."""
    if all(each is edits[0] for each in edits) or not any(edits):
        return edits[0]
    places = dict.fromkeys(place for each in edits for place in each)
    return {
        place: stacked_at([each.get(place, AS_TRAINED) for each in edits])
        if isinstance(place, Site)
        else edits[0][place]
        for place in places
    }


def stacked_at(edits: Sequence[AttentionEdit]) -> AttentionEdit:
    """Join the texts' edits of an attention block, with gates (B, H) and cells (B, H, Q, K)."""
    gates = [edit.gate for edit in edits]
    kept = next((torch.ones_like(gate) for gate in gates if gate is not None), None)
    return AttentionEdit(
        gate=None if kept is None else torch.stack([kept if g is None else g for g in gates]),
        block=stacked_cells([edit.block for edit in edits]),
        open=stacked_cells([edit.open for edit in edits]),
        bias=stacked_cells([edit.bias for edit in edits]),
    )


def stacked_cells(cells: Sequence[Tensor | None]) -> Tensor | None:
    """Stack cells (Q, K) or (H, Q, K) of each text as (B, H, Q, K), padded with False or 0."""
    given = [each for each in cells if each is not None]
    if not given:
        return None
    queries, keys = (max(each.size(dim) for each in given) for dim in (-2, -1))
    nothing = torch.zeros_like(given[0])
    rows = [fit_cells(nothing if each is None else each, queries, keys) for each in cells]
    return torch.stack(torch.broadcast_tensors(*(row.view(-1, queries, keys) for row in rows)))
