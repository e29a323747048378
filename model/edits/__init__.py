"""A visitor's changes to the attention of a model, as plain values that can be kept and undone.

`Edits` has all of them. There are three kinds; the file of a kind has its effect on an attention
block (a site), its text in links and its description on screen:

    masking.py  whole masks: one of the model's own switched off, or another one added;
                each mask is a record in a file of masks/
    cells.py    `CellEdit`: one cell closed or opened by hand, whatever the masks say
    gates.py    a head removed or faded, by its `HeadAddress`

`Edits.at_sites` turns them into the input of a model: an `AttentionEdit` of tensors for each site,
and a `PositionEdit` for each side whose tokens are moved. These are the `RunEdits` of
model/transformer/trace.py, which know nothing of visitors, links and words. tensors.py checks them,
and joins those of several texts for one batch.
"""

from headlight.model.edits.cells import MOST_CELLS, CellEdit
from headlight.model.edits.edits import Edits, describe, read_edits, write_edits
from headlight.model.edits.gates import MOST_NAMED, HeadAddress
from headlight.model.edits.masking import EXTRA, TRAINED, MaskAddress, NamedMask
from headlight.model.edits.masks import Mask, Setting
from headlight.model.edits.tensors import check_edits, check_sites, opens_the_future

__all__ = [
    "EXTRA",
    "MOST_CELLS",
    "MOST_NAMED",
    "TRAINED",
    "CellEdit",
    "Edits",
    "HeadAddress",
    "Mask",
    "MaskAddress",
    "NamedMask",
    "Setting",
    "check_edits",
    "check_sites",
    "describe",
    "opens_the_future",
    "read_edits",
    "write_edits",
]
