"""Strided: a query sees the keys near it, and beyond them every `stride`-th key.

Source: "Generating Long Sequences with Sparse Transformers" (Child et al. 2019), section 4.3.
"""

from headlight.model.edits.masks import Mask

MASK = Mask(
    name="strided",
    title="Strided",
    visible=lambda cells, stride: (
        ((cells.query - cells.key).abs() < stride) | ((cells.query - cells.key) % stride == 0)
    ),
    kinds=("encoder", "decoder"),
    lowest=(1,),
    offered=[(stride,) for stride in (2, 3, 4, 6)],
    words="with a stride of {}",
    help="A token sees all tokens nearer than the stride, and beyond them one token per stride.",
    source="Child et al. 2019",
)
