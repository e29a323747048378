"""The record `Mask`, which describes a mask. Each other file in this folder has one, `MASK`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from headlight.model.transformer.trace import KINDS, Kind, Site

Setting = tuple[int, ...]  # the numbers that a mask takes, such as a width


class Cells(NamedTuple):
    """The cells of an attention matrix: positions of queries and keys that broadcast to (Q, K)."""

    site: Site
    query: Tensor  # (Q, 1)
    key: Tensor  # (K,)
    unpadded: int  # the number of tokens of the decoder's text before its padding

    def none(self) -> Tensor:
        """Return a mask (Q, K) without any cell, which is False everywhere."""
        return torch.zeros(len(self.query), len(self.key), dtype=torch.bool)


def all_cells(site: Site, positions: int, unpadded: int | None = None) -> Cells:
    """Return all cells of a square attention matrix; by default, no token is padding."""
    every = torch.arange(positions)
    return Cells(site, every[:, None], every, positions if unpadded is None else unpadded)


@dataclass(frozen=True)
class Mask:
    """A mask that a visitor can switch off or add.

    `visible` takes the cells and the numbers of a setting, and returns a tensor that broadcasts to
    (Q, K): True if a query may see a key. A `trained` mask belongs to the model, and applies to its
    `kinds` until it is switched off; it takes no numbers. Other masks are added for one kind.

    Most masks only close cells. Some have another effect, too: `opened` takes the same arguments
    and returns the cells that the mask opens although the model's own mask closes them; `lowered`
    also takes the number of heads, and returns numbers (H, Q, K) that are subtracted from the
    scores; `positions` takes the number of tokens and the setting, and returns the tokens'
    positions, which apply to all layers.
    """

    name: str  # the name of the mask in links
    title: str  # the name of the mask on screen
    visible: Callable[..., Tensor]
    opened: Callable[..., Tensor] | None = None
    lowered: Callable[..., Tensor] | None = None
    positions: Callable[..., tuple[int, ...]] | None = None
    trained: bool = False
    kinds: Sequence[Kind] = KINDS
    # the abilities that a model needs for this mask, named as in `Reader.missing`
    needs: Sequence[str] = ()
    lowest: Setting = ()  # the smallest value of each number that a link may set
    offered: Sequence[Setting] = ()  # the settings in the menu of a page
    # True if the mask takes a list of numbers, each larger than the one before
    borders: bool = False
    click: str = ""  # a sentence on what a click on a token does, if clicks set the numbers
    # words that follow a kind of attention, as in 'encoder sees ...'; numbers replace {}
    words: str = ""
    help: str = ""
    source: str = ""

    def describe(self, setting: Setting) -> str:
        """Return this mask's words for a setting, such as 'sees one in 2 keys, by seed 1'."""
        numbers = setting if not self.borders else [", ".join(map(str, setting))]
        return self.words.format(*numbers)
