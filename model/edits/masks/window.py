"""A local window: a query only sees keys near it, on both sides."""

from headlight.model.edits.masks import Mask

MASK = Mask(
    name="window",
    title="Local window",
    visible=lambda cells, width: (cells.query - cells.key).abs() <= width,
    lowest=(0,),
    offered=[(width,) for width in range(6)],
    words="within {} of the diagonal",
    help="A token only sees keys that are at most this many positions away.",
)
