"""All changes of a visitor to a model's attention: as tensors, as text, and in words.

In a link they are one readable text, such as

    look-ahead.off~gate.cross.2.8.0~close.decoder.all.all.5.3-4

which switches the look-ahead mask off, removes head 8 of layer 2's cross-attention, and closes the
cells of query 5 and keys 3 to 4 in all heads and layers of the decoder. Numbers count from 1, as on
screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from torch import Tensor

from headlight.model.edits.attention import AttentionEdit
from headlight.model.edits.cells import (
    MOST_CELLS,
    CellEdit,
    after_stroke,
    cell_words,
    read_cells,
    with_cells,
    write_cells,
)
from headlight.model.edits.gates import HeadAddress, gate_at, gate_words, read_gates, write_gates
from headlight.model.edits.masking import (
    EXTRA,
    TOGETHER,
    TRAINED,
    MaskAddress,
    Together,
    checked_mask,
    closed_cells,
    lowered_scores,
    mask_words,
    moved_positions,
    opened_cells,
    read_mask,
    write_masks,
)
from headlight.model.edits.masks import Setting, all_cells
from headlight.model.shape import Shape
from headlight.model.transformer.trace import KINDS, Kind, Side, Site

Address = TypeVar("Address", MaskAddress, HeadAddress)
Value = TypeVar("Value")


class ByAddress(Mapping[Address, Value]):
    """A read-only mapping with masks or heads as keys, in the model's order, that can be hashed."""

    def __init__(self, values: Mapping[Address, Value]) -> None:
        self._values = {address: values[address] for address in sorted(values, key=in_model_order)}

    def __getitem__(self, address: Address) -> Value:
        return self._values[address]

    def __iter__(self) -> Iterator[Address]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(tuple(self._values.items()))

    def __repr__(self) -> str:
        return repr(self._values)

    def __reduce__(self) -> tuple:
        # Streamlit's cache compares objects by their pickles, so only the plain values are pickled.
        return ByAddress, (self._values,)


def in_model_order(address: MaskAddress | HeadAddress) -> list[tuple[int, str]]:
    """Return the sort key that orders addresses by kind, from encoder to cross-attention."""
    places = [KINDS.index(part) if part in KINDS else part for part in address]
    return [(-1, part) if isinstance(part, str) else (part, "") for part in places]


@dataclass(frozen=True)
class Edits:
    """Everything a visitor changed; `Edits()` leaves the model as trained.

    Of two edits of one cell the later one applies, whatever the masks say. Edits are plain values
    that can be hashed, so that they can be part of a cache's key. Any mappings may be passed.
    Raises ValueError for masks that `checked_mask` refuses.
    """

    off: Sequence[str] = ()  # names of the model's own masks that are switched off
    # the masks that are added to the model's own, with their numbers
    masks: Mapping[MaskAddress, Setting] = ByAddress({})
    cells: Sequence[CellEdit] = ()
    gates: Mapping[HeadAddress, float] = ByAddress({})
    together: Together = "all"  # how several masks combine; see `TOGETHER`

    def __post_init__(self) -> None:
        masks, gates = self.masks, self.gates
        if not isinstance(masks, ByAddress):
            masks = ByAddress(dict(checked_mask(*item) for item in masks.items()))
        if not isinstance(gates, ByAddress):
            gates = ByAddress(gates)
        object.__setattr__(self, "off", tuple(sorted({*self.off})))
        object.__setattr__(self, "masks", masks)
        if not masks:
            object.__setattr__(self, "together", "all")
        object.__setattr__(self, "cells", tuple(self.cells))
        object.__setattr__(self, "gates", gates)

    def are_off(self, heads: Iterable[HeadAddress]) -> bool:
        """Return whether all of these heads are off."""
        return all(self.gates.get(head, 1) == 0 for head in heads)

    def after_stroke(
        self, stroke: Sequence[CellEdit], site: Site, head: int, visible: Tensor
    ) -> Edits:
        """Return the edits after a visitor drew over a head's mask; see `cells.after_stroke`."""
        return replace(self, cells=after_stroke(self.cells, stroke, site, head, visible))

    def at_sites(
        self, shape: Shape, positions: int, target_length: int | None = None
    ) -> dict[Site | Side, Any]:
        """Return the edits as tensors for the model, for up to `positions` queries and keys.

        If the target is padded, `target_length` counts its tokens before the padding.
        """
        edits: dict[Site | Side, Any] = {
            side: edit
            for side, edit in moved_positions(self.masks, positions).items()
            if shape.layers(side)
        }
        for site in shape.sites:
            edit = self.at_site(site, shape.heads(site.kind), positions, target_length)
            if any(part is not None for part in vars(edit).values()):
                edits[site] = edit
        return edits

    def at_site(
        self, site: Site, heads: int, positions: int, target_length: int | None = None
    ) -> AttentionEdit:
        """Return the edit of one attention block; see `at_sites`."""
        cells = all_cells(site, positions, target_length)
        closed = closed_cells(self.masks, self.together, cells)
        opened = opened_cells(self.off, self.masks, self.together, cells)
        closed, opened = with_cells(self.cells, site, heads, closed, opened)
        gate = gate_at(self.gates, site, heads)
        return AttentionEdit(
            gate=gate if (gate != 1).any() else None,
            block=closed if closed.any() else None,
            open=opened if opened.any() else None,
            bias=lowered_scores(self.masks, heads, cells),
        )


def write_edits(edits: Edits) -> str:
    """Return edits as text; empty if nothing was changed."""
    masks = write_masks(edits.off, edits.masks, edits.together)
    return "~".join([*masks, *write_gates(edits.gates), *write_cells(edits.cells)])


def read_edits(text: str, shape: Shape, refused: set[str] | None = None) -> Edits:
    """Return the edits in a text, for a model of this shape.

    Parts that are no edits, or change something that the model lacks, are added to `refused`.
    Without `refused` they raise ValueError.
    """
    off: list[str] = []
    masks: dict[MaskAddress, Setting] = {}
    gates: dict[HeadAddress, float] = {}
    cells: list[CellEdit] = []
    together: Together = "all"
    for part in text.split("~") if text else []:
        try:
            match part.split("."):
                case [name, "off"] if name in TRAINED:
                    off.append(name)
                case ["masks", way] if way in TOGETHER:
                    together = way
                case [name, _, *_] as texts if name in EXTRA:
                    masks.update([read_mask(texts, shape)])
                case ["gate", _, _, _, _] as texts:
                    gates.update(read_gates(texts[1:], shape))
                case ["open" | "close", _, _, _, _, _] as texts:
                    cells += read_cells(texts, shape, MOST_CELLS - len(cells))
                case _:
                    raise ValueError(f"This is not a valid edit: {part}")
        except ValueError:
            if refused is None:
                raise
            refused.add(part)
    return Edits(off, masks, cells, gates, together)


def describe(edits: Edits, kinds: Mapping[Kind, str], briefly: bool = False) -> list[str]:
    """Return the changes in words, with numbers from 1; `kinds` names the kinds of attention.

    With `briefly`, the words say how many masks and heads are changed, not which.
    """
    return [
        *mask_words(edits.off, edits.masks, edits.together, kinds, briefly),
        *gate_words(edits.gates, kinds, briefly),
        *cell_words(edits.cells, briefly),
    ]
