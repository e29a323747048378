"""Edits of whole masks: masks of the model switched off, and other masks added."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import zip_longest
from pkgutil import iter_modules
from typing import Literal, NamedTuple

import torch
from torch import Tensor

import headlight.model.edits.masks as folder
from headlight.model.edits.masks import Cells, Mask, Setting
from headlight.model.edits.positions import LAST_POSITION, PositionEdit
from headlight.model.edits.text import read_kind, read_layer, read_number
from headlight.model.shape import Shape
from headlight.model.transformer.trace import Kind, Side, Site

FILES = [import_module(f"{folder.__name__}.{file.name}") for file in iter_modules(folder.__path__)]
MASKS: list[Mask] = [file.MASK for file in FILES]
# The masks of the model, which can be switched off, and the masks that can be added, by name.
TRAINED = {mask.name: mask for mask in MASKS if mask.trained}
EXTRA = {mask.name: mask for mask in MASKS if not mask.trained}


NamedMask = tuple[str, Setting]  # the name of a mask, with its numbers
# one layer, from 0; or all layers that are odd or even when counted from 1, as on screen
Layers = int | Literal["all", "odd", "even"]
Together = Literal["all", "any", "only"]
TOGETHER: dict[Together, str] = {
    "all": "see what all masks allow",
    "any": "see what any added mask allows",
    "only": "see what the added masks allow, without the model's own",
}


class MaskAddress(NamedTuple):
    """The name of an added mask, with the kind of attention and the layers that have it."""

    name: str
    kind: Kind
    layers: Layers = "all"

    def reaches(self, site: Site) -> bool:
        own = {"all", site.layer, "even" if site.layer % 2 else "odd"}
        return self.kind == site.kind and self.layers in own


Masks = Mapping[MaskAddress, Setting]


def added_at(masks: Masks, site: Site) -> list[tuple[Mask, Setting]]:
    """Return the masks that were added to an attention block, with their numbers."""
    return [
        (EXTRA[address.name], setting)
        for address, setting in masks.items()
        if address.reaches(site)
    ]


def closed_cells(masks: Masks, together: Together, cells: Cells) -> Tensor:
    """Return the cells that the added masks close: (Q, K) bool."""
    closes = [
        ~mask.visible(cells, *setting) | cells.none()
        for mask, setting in added_at(masks, cells.site)
    ]
    if not closes:
        return cells.none()
    by_mask = torch.stack(closes)
    return by_mask.all(dim=0) if together == "any" else by_mask.any(dim=0)


def opened_cells(off: Collection[str], masks: Masks, together: Together, cells: Cells) -> Tensor:
    """Return the cells (Q, K) that edits open although a mask of the model closes them.

    Switching a mask off opens the cells that no other mask of the attention block closes. Some
    added masks open cells, too.
    """
    added = added_at(masks, cells.site)
    off = {*off, "look-ahead"} if together == "only" and added else {*off}
    own = [mask for mask in TRAINED.values() if cells.site.kind in mask.kinds]
    left = [mask for mask in own if mask.name not in off]
    opened = cells.none()
    if left != own:
        opened = ~opened
        for mask in left:
            opened &= mask.visible(cells)
    for mask, setting in added:
        if mask.opened:
            opened |= mask.opened(cells, *setting)
    return opened


def lowered_scores(masks: Masks, heads: int, cells: Cells) -> Tensor | None:
    """Return the numbers (H, Q, K), at most 0, that the added masks add to the scores, or None."""
    lowered = [
        mask.lowered(cells, heads, *setting)
        for mask, setting in added_at(masks, cells.site)
        if mask.lowered
    ]
    return -sum(lowered[1:], lowered[0]) if lowered else None


def moved_positions(masks: Masks, positions: int) -> dict[Side, PositionEdit]:
    """Return a PositionEdit for each side on which an added mask changes the tokens' positions."""
    return {
        address.kind: PositionEdit(order=move(positions, *setting))
        for address, setting in masks.items()
        if address.kind != "cross" and (move := EXTRA[address.name].positions)
    }


def write_masks(off: Collection[str], masks: Masks, together: Together) -> Iterator[str]:
    yield from (f"{name}.off" for name in off)
    if masks and together != "all":
        yield f"masks.{together}"
    for (name, kind, layers), setting in masks.items():
        which = layers + 1 if isinstance(layers, int) else layers
        where = kind if layers == "all" else f"{kind}-{which}"
        yield ".".join([name, where, *map(str, setting)])


def read_mask(texts: Sequence[str], shape: Shape) -> tuple[MaskAddress, Setting]:
    """Return the address and the numbers of an added mask, from the parts of its text.

    Raises ValueError if a model of this shape has no such layer, if a number exceeds the longest
    text, and whenever `checked_mask` does.
    """
    name, where, *numbers = texts
    kind, dash, which = where.partition("-")
    setting = read_setting(EXTRA[name], numbers, shape.max_positions)
    layers = "all" if not dash else which
    if layers not in ("all", "odd", "even"):
        layers = read_layer(layers, kind, shape)
    return checked_mask(MaskAddress(name, read_kind(kind), layers), setting)


def checked_mask(address: MaskAddress, setting: Setting) -> tuple[MaskAddress, Setting]:
    """Return the address and the numbers of an added mask, unchanged.

    Raises ValueError if the mask cannot be in this kind or these layers, or takes other numbers.
    """
    address = MaskAddress(*address)
    mask = EXTRA[address.name]
    if address.kind not in mask.kinds:
        raise ValueError(f"{mask.title} is not a mask for this kind of attention: {address.kind}")
    if mask.positions and address.layers != "all":
        raise ValueError(
            f"{mask.title}: a token has one position in all layers, so choose all layers."
        )
    return address, read_setting(mask, [*map(str, setting)], LAST_POSITION)


def read_setting(mask: Mask, numbers: Sequence[str], most: int) -> Setting:
    """Return texts as the numbers of a mask; raises ValueError for wrong ones."""
    fits = len(numbers) >= len(mask.lowest) if mask.borders else len(numbers) == len(mask.lowest)
    if not fits:
        raise ValueError(f"{mask.title} does not take these numbers: {', '.join(numbers)}")
    setting: list[int] = []
    for number, lowest in zip_longest(numbers, mask.lowest):
        least = setting[-1] + 1 if lowest is None else lowest
        setting.append(read_number(number, least, most))
    return tuple(setting)


def mask_words(
    off: Collection[str],
    masks: Masks,
    together: Together,
    kinds: Mapping[Kind, str],
    briefly: bool,
) -> list[str]:
    """Return the changes of masks in words; `briefly` leaves out settings, kinds and layers."""
    words = [f"{TRAINED[name].title.lower()} off" for name in off]
    if masks and together != "all":
        words.append(f"tokens {TOGETHER[together]}")
    if briefly:
        counts = Counter(address.name for address in masks)
        titles = {name: EXTRA[name].title.lower() for name in counts}
        return words + [
            titles[name] if count == 1 else f"{count} × {titles[name]}"
            for name, count in counts.items()
        ]
    return words + [
        f"{kinds[kind]}{layer_words(layers)} {EXTRA[name].describe(setting)}"
        for (name, kind, layers), setting in masks.items()
    ]


def layer_words(layers: Layers) -> str:
    """Return words on the layers that have a mask, such as ', layer 2,'; "" for all layers."""
    if layers == "all":
        return ""
    return f", layer {layers + 1}," if isinstance(layers, int) else f", {layers} layers,"
