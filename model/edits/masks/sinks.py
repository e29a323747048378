"""Sinks and a window behind: a query sees the text's first tokens and those just before itself.

Source: "Efficient Streaming Language Models with Attention Sinks" (Xiao et al. 2023), section 3.
"""

from headlight.model.edits.masks import Mask

MASK = Mask(
    name="sinks",
    title="Sinks and window",
    visible=lambda cells, first, width: (
        (cells.key < first) | (cells.query >= cells.key) & (cells.query - cells.key < width)
    ),
    kinds=("encoder", "decoder"),
    lowest=(1, 1),
    offered=[(1, 1), (1, 2), (1, 4), (2, 2), (4, 4)],
    words="sees the first {} tokens and {} back, its own included",
    help="A token sees the first tokens and those right before it, which StreamingLLM caches.",
    source="Xiao et al. 2023",
)
