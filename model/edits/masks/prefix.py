"""A prefix: its tokens see each other in both directions; the other tokens see no later ones.

Source: "Exploring the Limits of Transfer Learning" (Raffel et al. 2020), section 3.2.1.
"""

from headlight.model.edits.masks import Mask

MASK = Mask(
    name="prefix",
    title="Prefix",
    visible=lambda cells, end: (cells.key <= cells.query) | (cells.key < end),
    opened=lambda cells, end: (cells.query < end) & (cells.key < min(end, cells.unpadded)),
    kinds=("decoder",),
    needs=("open cells",),
    lowest=(1,),
    offered=[(3,)],
    click="Click the last token of the prefix.",
    words="with a prefix of {} tokens",
    help="Lets the first tokens see each other in both directions, as a prefix LM does.",
    source="Raffel et al. 2020",
)
