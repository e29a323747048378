"""The padding mask: no query sees the tokens that pad a text to the length of others."""

from headlight.model.edits.masks import Mask

MASK = Mask(
    name="padding",
    title="Padding mask",
    visible=lambda cells: cells.key < cells.unpadded,
    trained=True,
    needs=("open cells", "pad"),
)
