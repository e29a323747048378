"""The look-ahead mask: a query sees itself and earlier positions.

Source: "Attention Is All You Need", section 3.2.3.
"""

from headlight.model.edits.masks import Mask

MASK = Mask(
    name="look-ahead",
    title="Look-ahead mask",
    visible=lambda cells: cells.key <= cells.query,
    trained=True,
    kinds=("decoder",),
    needs=("open cells",),
)
