"""Blocks: a query only sees the keys of its own block.

Source: "Blockwise Self-Attention for Long Document Understanding" (Qiu et al. 2019), section 3;
Llama 4 calls it chunked attention.
"""

from headlight.model.edits.masks import Mask

MASK = Mask(
    name="blocks",
    title="Blocks",
    visible=lambda cells, size: cells.query // size == cells.key // size,
    kinds=("encoder", "decoder"),
    lowest=(1,),
    offered=[(size,) for size in (2, 3, 4, 6, 8)],
    words="in blocks of {}",
    help="Cuts the text into blocks of this many tokens; a token only sees its own block.",
    source="Qiu et al. 2019",
)
