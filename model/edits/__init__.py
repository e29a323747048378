"""A visitor's changes to the attention of a model, as plain values that can be kept and undone.

`Edits` hold all of them, in three kinds. Each kind has a file with its effect on a site, its text
in links and its description:

    masking.py  whole masks: one of the model's own switched off, or another put in force;
                each mask is a record in a file of masks/
    cells.py    `CellEdit`: one cell closed or opened by hand, which goes over the masks
    gates.py    a head removed or faded, by its `HeadAddress`

`Edits.at_sites` turns them into the input of a model: for each site an `AttentionEdit` of tensors.
Together with the `PositionEdit` of each side these are the `RunEdits` of
model/transformer/trace.py, which know nothing of visitors, links and words. tensors.py checks them,
and makes one batch of several texts'.
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
