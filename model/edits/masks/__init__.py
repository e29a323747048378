"""The record that describes a mask. Each file in this folder ends with one, `MASK`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from headlight.model.transformer.trace import KINDS, Kind, Site

Setting = tuple[int, ...]  # the numbers that a mask takes, such as a width


class Cells(NamedTuple):
    """The cells of a site, as positions from 0 that broadcast to (Q, K)."""

    site: Site
    query: Tensor  # (Q, 1)
    key: Tensor  # (K,)
    unpadded: int  # tokens of the decoder's text before its padding

    def none(self) -> Tensor:
        """Return an empty mask (Q, K), to which cells can be added."""
        return torch.zeros(len(self.query), len(self.key), dtype=torch.bool)


def all_cells(site: Site, positions: int, unpadded: int | None = None) -> Cells:
    """Return the cells of a site with as many queries as keys; there is no padding by default."""
    every = torch.arange(positions)
    return Cells(site, every[:, None], every, positions if unpadded is None else unpadded)


@dataclass(frozen=True)
class Mask:
    """A mask that a visitor can switch off or put in force.

    `visible` takes the cells and the numbers of a setting, and returns a tensor that broadcasts to
    (Q, K): True if a query may see a key. A `trained` mask belongs to the model and is in force in
    its `kinds` until it is switched off; it takes no numbers. Other masks are added for one kind.

    Few masks do more than close cells. `opened` returns the cells that one opens against the
    model's own mask; `lowered` takes the number of heads, too, and returns what is taken from the
    scores (H, Q, K); `positions` takes a length, and returns the positions of its tokens, which are
    those of all layers.
    """

    name: str  # in links
    title: str  # on screen
    visible: Callable[..., Tensor]
    opened: Callable[..., Tensor] | None = None
    lowered: Callable[..., Tensor] | None = None
    positions: Callable[..., tuple[int, ...]] | None = None
    trained: bool = False
    kinds: Sequence[Kind] = KINDS
    needs: Sequence[str] = ()  # abilities of a reader that it needs, by the names of `missing`
    lowest: Setting = ()  # the smallest value of each number that a link may set
    offered: Sequence[Setting] = ()
    borders: bool = False  # whether it takes a list of numbers, each larger than the one before
    click: str = ""  # says what a click on a token sets, if it sets the numbers
    words: str = ""  # describes a kind of attention with it; {} for each number
    help: str = ""
    source: str = ""

    def describe(self, setting: Setting) -> str:
        """Return a setting in words that follow a kind of attention."""
        numbers = setting if not self.borders else [", ".join(map(str, setting))]
        return self.words.format(*numbers)
