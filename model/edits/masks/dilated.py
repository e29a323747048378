"""A dilated window: a query sees some keys on both sides, with gaps between them.

Source: "Longformer: The Long-Document Transformer" (Beltagy et al. 2020), section 3.1.
"""

from headlight.model.edits.masks import Mask

MASK = Mask(
    name="dilated",
    title="Dilated window",
    visible=lambda cells, width, step: (
        ((cells.query - cells.key).abs() <= width * step) & ((cells.query - cells.key) % step == 0)
    ),
    kinds=("encoder", "decoder"),
    lowest=(0, 1),
    offered=[(1, 2), (2, 2), (3, 2), (2, 3)],
    words="sees {} keys on each side, one in {}",
    help="A window with gaps: how many keys a token sees on each side, and how far apart they are.",
    source="Beltagy et al. 2020",
)
