"""Packed documents: a query only sees the keys of its own document; positions do not restart.

Source: "Exploring the Limits of Transfer Learning" (Raffel et al. 2020), section 3.1.1, packs texts
into one sequence; "Fewer Truncations Improve Language Modeling" (Ding et al. 2024), section 2, and
others hide the packed texts from each other.
"""

import torch
from torch import Tensor

from headlight.model.edits.masks import Cells, Mask

CLICK = "Click the first token of a document to begin it there, or to join it to the one before."


def visible(cells: Cells, *borders: int) -> Tensor:
    """Return the cells in one document; `borders` has where each document but the first begins."""
    starts = torch.tensor(borders)
    query, key = (torch.bucketize(part, starts, right=True) for part in (cells.query, cells.key))
    return query == key


MASK = Mask(
    name="documents",
    title="Packed documents",
    visible=visible,
    kinds=("encoder", "decoder"),
    lowest=(1,),
    offered=[(4,)],
    borders=True,
    click=CLICK,
    words="in documents that end after {} tokens",
    help="A token only sees its own document; positions do not restart in each document.",
    source="Raffel et al. 2020",
)
