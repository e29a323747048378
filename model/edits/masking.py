"""Edits of whole masks: masks of the model switched off, and other masks put in force."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import NamedTuple

from torch import Tensor

import headlight.model.edits.masks as folder
from headlight.model.edits.masks import Cells, Mask, Setting
from headlight.model.edits.text import how_many, read_number
from headlight.model.trace import Kind, Shape

FILES = [import_module(f"{folder.__name__}.{file.name}") for file in iter_modules(folder.__path__)]
MASKS: list[Mask] = [file.MASK for file in FILES]
TRAINED = {mask.name: mask for mask in MASKS if mask.trained}  # of the model: can be switched off
EXTRA = {mask.name: mask for mask in MASKS if not mask.trained}  # can be put in force


class MaskAddress(NamedTuple):
    """The name of a mask that was put in force, and the kind of attention."""

    name: str
    kind: Kind


Masks = Mapping[MaskAddress, Setting]


def closed_cells(masks: Masks, cells: Cells) -> Tensor:
    """Return the cells that the added masks close: (Q, K) bool."""
    closed = cells.none()
    for (name, kind), setting in masks.items():
        if kind == cells.site.kind:
            closed |= ~EXTRA[name].visible(cells, *setting)
    return closed


def opened_cells(off: Collection[str], cells: Cells) -> Tensor:
    """Return the cells (Q, K) that are open once some of the site's own masks are switched off.

    If none of them is, no cell is opened: the site's mask stays as trained.
    """
    own = [mask for mask in TRAINED.values() if cells.site.kind in mask.kinds]
    left = [mask for mask in own if mask.name not in off]
    if left == own:
        return cells.none()
    opened = ~cells.none()
    for mask in left:
        opened &= mask.visible(cells)
    return opened


def write_masks(off: Collection[str], masks: Masks) -> Iterator[str]:
    yield from (f"{name}.off" for name in off)
    for (name, kind), setting in masks.items():
        yield ".".join([name, kind, *map(str, setting)])


def read_mask(texts: Sequence[str], shape: Shape) -> tuple[MaskAddress, Setting]:
    """Return an added mask and its numbers, each at most the longest text.

    Raises ValueError if the mask is not one for this kind, or does not take these numbers.
    """
    name, kind, *numbers = texts
    mask, most = EXTRA[name], shape.max_positions
    if kind not in mask.kinds or len(numbers) != len(mask.lowest):
        raise ValueError(f"This is not a setting of a mask: {'.'.join(texts)}")
    bounds = zip(numbers, mask.lowest, strict=True)
    setting = tuple(read_number(number, lowest, most) for number, lowest in bounds)
    return MaskAddress(name, kind), setting


def mask_words(
    off: Collection[str], masks: Masks, kinds: Mapping[Kind, str], briefly: bool
) -> list[str]:
    """Return masks in words; `briefly` counts the kinds of attention that have one."""
    words = [f"{TRAINED[name].title.lower()} off" for name in off]
    if briefly:
        counts = Counter(address.name for address in masks)
        return words + [how_many(n, EXTRA[name].title.lower()) for name, n in counts.items()]
    return words + [
        f"{kinds[kind]} {EXTRA[name].words.format(*setting)}"
        for (name, kind), setting in masks.items()
    ]
