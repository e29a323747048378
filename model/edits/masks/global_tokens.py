"""Global tokens: the first tokens see all and are seen by all; other tokens see a window.

Source: "Longformer: The Long-Document Transformer" (Beltagy et al. 2020), section 3.1.
"""

from headlight.model.edits.masks import Mask

MASK = Mask(
    name="global",
    title="Global tokens",
    visible=lambda cells, first, width: (
        (cells.key < first) | (cells.query < first) | ((cells.query - cells.key).abs() <= width)
    ),
    kinds=("encoder", "decoder"),
    lowest=(1, 0),
    offered=[(1, 0), (1, 1), (1, 2), (2, 2)],
    words="with {} global tokens and {} keys on each side",
    help="The first tokens see all and are seen by all; other tokens only see those near them.",
    source="Beltagy et al. 2020",
)
