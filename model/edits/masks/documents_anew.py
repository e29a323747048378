"""Packed documents whose positions start again at 0, as if each document were alone.

Source: the papers named in documents.py.
"""

from itertools import pairwise

from headlight.model.edits.masks import Mask
from headlight.model.edits.masks.documents import CLICK, visible


def positions(length: int, *borders: int) -> tuple[int, ...]:
    """Return the position of each of `length` tokens in its own document, from 0."""
    ends = [0, *(border for border in borders if border < length), length]
    return tuple(position for first, end in pairwise(ends) for position in range(end - first))


MASK = Mask(
    name="documents-anew",
    title="Packed documents, positions restart",
    visible=visible,
    positions=positions,
    kinds=("encoder", "decoder"),
    needs=("move positions",),
    lowest=(1,),
    offered=[(4,)],
    borders=True,
    click=CLICK,
    words="in documents that end after {} tokens, with positions that restart at 0",
    help="A token only sees its own document, and positions restart at 0 in each document. A token "
    "has one position for all layers, so the mask is in all of them.",
    source="Raffel et al. 2020",
)
