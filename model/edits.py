"""What a visitor changed, as plain values that can be kept, undone and put in force.

As one readable text, such as a link can hold:

    look-ahead.off~gate.cross.2.8.0~close.decoder.all.all.5.3-4

switches the look-ahead mask off, removes head 8 of the cross-attention's layer 2, and closes the
cells of query 5 with the keys 3 and 4 everywhere. All counts begin at 1, as on screen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeVar

import torch
from torch import Tensor

from model.edit_text import (
    read_head,
    read_kind,
    read_layer,
    read_number,
    read_span,
    rectangles,
    span_text,
)
from model.masks import window_mask
from model.shape import Shape
from model.trace import KINDS, AttentionEdit, Kind, RunEdits, Site

MOST_CELLS = 5_000  # that a text may close or open
MOST_HEADS = 6  # that are named one by one

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

    def reaches(self, kind: Kind, layer: int | None, head: int | None) -> bool:
        """Return whether it changes the cell in all of a head, a layer or a kind."""
        return self.kind == kind and self.layer in (None, layer) and self.head in (None, head)


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

    @property
    def cells_changed(self) -> tuple[int, int]:
        """How many cells are closed and opened; of two edits of one the later counts."""
        last = {replace(cell, opened=False): cell.opened for cell in self.cells}
        return len(last) - sum(last.values()), sum(last.values())

    def after_stroke(
        self, stroke: Sequence[CellEdit], site: Site, head: int, visible: Tensor
    ) -> Edits:
        """Return the edits after a stroke over the mask of a head.

        The stroke takes the place of the edits it covers. Of its own edits those are left out that
        the head does not need: `visible` (Q, K) is what it sees without any cell edit.
        """
        strokes = {(cell.query, cell.key): cell for cell in stroke}
        kept = tuple(
            cell
            for cell in self.cells
            if (new := strokes.get((cell.query, cell.key))) is None
            or not new.reaches(cell.kind, cell.layer, cell.head)
        )
        held = {(cell.query, cell.key): cell.opened for cell in kept if cell.reaches(*site, head)}
        needed = tuple(
            cell
            for place, cell in strokes.items()
            if held.get(place, bool(visible[place])) != cell.opened
        )
        return replace(self, cells=kept + needed)

    def at_sites(
        self, shape: Shape, positions: int, target_length: int | None = None
    ) -> dict[Site, AttentionEdit]:
        """Return the edits as the model takes them, for up to `positions` queries and keys.

        If the target is padded, `target_length` counts its tokens before the padding.
        """
        edits = {
            site: self.at_site(site, shape.heads(site.kind), positions, target_length)
            for site in shape.sites
        }
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


def write_edits(edits: Edits) -> str:
    """Return the text of edits; empty if nothing was changed. Gates are written in percent."""
    switches = {"look-ahead": edits.look_ahead, "padding": edits.padding}
    parts = [f"{name}.off" for name, on in switches.items() if not on]
    parts += [f"window.{kind}.{width}" for kind, width in edits.windows.items()]
    parts += [
        f"gate.{kind}.{layer + 1}.{head + 1}.{gate:.0%}".rstrip("%")
        for (kind, layer, head), gate in edits.gates.items()
    ]
    return "~".join([*parts, *cell_texts(edits.cells)])


def cell_texts(cells: Sequence[CellEdit]) -> Iterator[str]:
    """Yield cells as rectangles, each in one text, in an order that has the same effect."""
    last: dict[CellEdit, CellEdit] = {}
    for cell in cells:
        place = replace(cell, opened=False)
        last.pop(place, None)
        last[place] = cell
    by_scope = groupby(last.values(), lambda cell: (cell.opened, cell.kind, cell.layer, cell.head))
    for (opened, kind, layer, head), group in by_scope:
        places = ["all" if place is None else str(place + 1) for place in (layer, head)]
        for queries, keys in rectangles({(cell.query, cell.key) for cell in group}):
            verb = "open" if opened else "close"
            yield ".".join([verb, kind, *places, span_text(queries), span_text(keys)])


def read_edits(text: str, shape: Shape) -> Edits:
    """Return the edits of a text for a model of this shape.

    Raises ValueError if `write_edits` does not write such a text, or the model lacks a part of it.
    """
    switches: dict[str, bool] = {}
    windows: dict[Kind, int] = {}
    gates: dict[tuple[Kind, int, int], float] = {}
    cells: list[CellEdit] = []
    for part in text.split("~") if text else []:
        match part.split("."):
            case ["look-ahead" | "padding" as name, "off"]:
                switches[name.replace("-", "_")] = False
            case ["window", kind, width]:
                windows[read_kind(kind)] = read_number(width, 0, shape.max_positions)
            case ["gate", kind, layer, head, percent]:
                site = read_kind(kind), read_layer(layer, kind, shape), read_head(head, kind, shape)
                gates[site] = read_number(percent, 0, 100) / 100
            case ["open" | "close" as verb, kind, layer, head, queries, keys]:
                scope = (
                    None if layer == "all" else read_layer(layer, kind, shape),
                    None if head == "all" else read_head(head, kind, shape),
                )
                rows, columns = (read_span(span, shape.max_positions) for span in (queries, keys))
                if len(cells) + len(rows) * len(columns) > MOST_CELLS:
                    raise ValueError(f"More than {MOST_CELLS} cells are changed.")
                cells += [
                    CellEdit(read_kind(kind), query, key, verb == "open", *scope)
                    for query in rows
                    for key in columns
                ]
            case _:
                raise ValueError(f"This is not a valid edit: {part}")
    return Edits(**switches, windows=windows, gates=gates, cells=tuple(cells))


def describe(edits: Edits, kinds: Mapping[Kind, str]) -> list[str]:
    """Return what was changed, in words that count from 1; `kinds` names the kinds of attention."""
    words = [] if edits.look_ahead else ["look-ahead mask off"]
    words += [] if edits.padding else ["padding mask off"]
    words += [
        f"{kinds[kind]} within {width} positions of the diagonal"
        for kind, width in edits.windows.items()
    ]
    heads = [
        f"{kinds[kind]}, layer {layer + 1}, head {head + 1} "
        + ("off" if gate == 0 else f"faded to {gate:.2f}")
        for (kind, layer, head), gate in edits.gates.items()
        if gate != 1
    ]
    words += heads[:MOST_HEADS]
    if len(heads) > MOST_HEADS:
        words.append(f"{len(heads) - MOST_HEADS} more heads off or faded")
    for count, verb in zip(edits.cells_changed, ("closed", "opened"), strict=True):
        if count:
            words.append(f"{count} cell{'s' if count > 1 else ''} of the masks {verb}")
    return words
