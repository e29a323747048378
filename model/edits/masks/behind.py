"""A window behind: a query sees itself and the tokens just before it, `width` in all.

Source: Mistral 7B (Jiang et al. 2023), section 2, sliding window attention.
"""

from headlight.model.edits.masks import Mask

MASK = Mask(
    name="behind",
    title="Window behind",
    visible=lambda cells, width: (cells.query >= cells.key) & (cells.query - cells.key < width),
    kinds=("encoder", "decoder"),
    lowest=(1,),
    offered=[(width,) for width in (1, 2, 3, 4, 6, 8)],
    words="sees {} tokens back, its own included",
    help="A token sees itself and the tokens right before it, as in Mistral.",
    source="Jiang et al. 2023",
)
