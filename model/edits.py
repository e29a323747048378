"""What a visitor changed, as plain values that can be kept, undone and put in force."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor

from model.config import TransformerConfig
from model.masks import window_mask
from model.trace import KINDS, AttentionEdit, Kind, RunEdits, Site

Head = tuple[Kind, int, int]  # kind, layer, head
Place = TypeVar("Place", Kind, Head)
Value = TypeVar("Value")


class ByPlace(Mapping[Place, Value]):
    """A read-only mapping from kinds or heads, in the order of the model; equal ones hash alike."""

    def __init__(self, values: Mapping[Place, Value]) -> None:
        self._values = {place: values[place] for place in sorted(values, key=in_model_order)}

    def __getitem__(self, place: Place) -> Value:
        return self._values[place]

    def __iter__(self) -> Iterator[Place]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(tuple(self._values.items()))

    def __repr__(self) -> str:
        return repr(self._values)

    def __reduce__(self) -> tuple:
        # Plain values: what caches by value, as Streamlit does, reads an object by this.
        return ByPlace, (self._values,)


def in_model_order(place: Kind | Head) -> tuple[int, ...]:
    """Return what sorts kinds and heads from the encoder to the cross-attention."""
    kind, *numbers = (place,) if isinstance(place, str) else place
    return KINDS.index(kind), *numbers


@dataclass(frozen=True)
class CellEdit:
    """One cell closed or opened; a layer or head of None stands for all. Positions from 0."""

    kind: Kind
    query: int
    key: int
    opened: bool
    layer: int | None = None
    head: int | None = None


@dataclass(frozen=True)
class Edits:
    """Everything a visitor changed; `Edits()` leaves the model as trained.

    Of two edits of one cell the later wins, and a cell edit wins over the switches. Edits are plain
    values: equal ones hash alike, so that they can be part of a key. Any mappings may be given.
    """

    look_ahead: bool = True  # False lets the decoder see later positions
    padding: bool = True  # False lets every query see padding
    windows: Mapping[Kind, int] = ByPlace({})  # farther cells are closed
    cells: tuple[CellEdit, ...] = ()
    gates: Mapping[Head, float] = ByPlace({})

    def __post_init__(self) -> None:
        object.__setattr__(self, "windows", ByPlace(self.windows))
        object.__setattr__(self, "cells", tuple(self.cells))
        object.__setattr__(self, "gates", ByPlace(self.gates))

    @property
    def changes_masks(self) -> bool:
        """Whether any query sees other keys than as trained."""
        return not self.look_ahead or not self.padding or bool(self.windows or self.cells)

    def at_sites(
        self, config: TransformerConfig, positions: int, target_length: int | None = None
    ) -> dict[Site, AttentionEdit]:
        """Return the edits as the model takes them, for up to `positions` queries and keys.

        If the target is padded, `target_length` counts its tokens before the padding.
        """
        sites = [Site(kind, layer) for kind in KINDS for layer in range(config.layers(kind))]
        edits = {site: self.at_site(site, config.heads, positions, target_length) for site in sites}
        return {
            site: edit
            for site, edit in edits.items()
            if any(part is not None for part in vars(edit).values())
        }

    def at_site(
        self, site: Site, heads: int, positions: int, target_length: int | None = None
    ) -> AttentionEdit:
        """Return the edit of one site; see `at_sites`. Gates of further heads have no effect."""
        opened = self.opened_by_switches(site, positions, target_length)
        block = torch.zeros(positions, positions, dtype=torch.bool)
        if site.kind in self.windows:
            block = ~window_mask(positions, positions, self.windows[site.kind])[0, 0]
        block, opened = self.with_cells(site, heads, block, opened)
        gate = torch.ones(heads)
        for (kind, layer, head), value in self.gates.items():
            if (kind, layer) == site and head < heads:
                gate[head] = value
        return AttentionEdit(
            gate=gate if (gate != 1).any() else None,
            block=block if block.any() else None,
            open=opened if opened.any() else None,
        )

    def opened_by_switches(self, site: Site, positions: int, target_length: int | None) -> Tensor:
        """Return the cells (Q, K) that are visible because a whole mask is off."""
        everything = torch.ones(positions, positions, dtype=torch.bool)
        if site.kind != "decoder":
            return everything & (not self.padding)  # nothing else hides a key of the source
        if self.look_ahead and self.padding:
            return ~everything
        opened = everything.tril() if self.look_ahead else everything
        if self.padding and target_length is not None:
            opened[:, target_length:] = False
        return opened

    def with_cells(
        self, site: Site, heads: int, block: Tensor, opened: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return closed and opened cells after cell edits: (Q, K), or (H, Q, K) if heads differ.

        Cells beyond these positions, edited on a longer sentence, wait for one.
        """
        here = [
            cell
            for cell in self.cells
            if cell.kind == site.kind
            and cell.layer in (None, site.layer)
            and max(cell.query, cell.key) < len(block)
        ]
        if any(cell.head is not None for cell in here):
            block, opened = block.repeat(heads, 1, 1), opened.repeat(heads, 1, 1)
        for cell in here:
            place = (..., cell.query, cell.key)
            if cell.head is not None:
                place = (cell.head, cell.query, cell.key)
            opened[place], block[place] = cell.opened, not cell.opened
        return block, opened


def opens_the_future(edits: RunEdits) -> bool:
    """Return whether a decoder position may see a later one, which changes what it computes."""
    return any(
        edit.open is not None and bool(edit.open.triu(diagonal=1).any())
        for site, edit in edits.items()
        if isinstance(site, Site) and site.kind == "decoder"
    )
