"""Draw a Transformer's encoder and decoder, and mark an attention block in them."""

from collections.abc import Mapping
from typing import Any

from headlight.viz.canvas import CanvasPicture, Part

PART = Part.next_to(__file__, "Where this is in the model")
STACKS = {
    "encoder": ("encoder",),
    "decoder": ("decoder", "cross"),
}  # the kinds of attention in a layer of each stack, in order
HEIGHT = 120  # pixels of a notebook's frame


def architecture_map(
    layers: Mapping[Any, int],
    *,
    labels: Mapping[Any, str],
    kind: str,
    layer: int | None = None,
    linked: bool = False,
) -> CanvasPicture:
    """Draw an encoder and a decoder, with a block for each kind of attention in each layer.

    `layers` holds the number of layers of each kind: "encoder", "decoder" and "cross"; `labels`
    are the kinds' names. The block of `kind` and `layer`, from 0, is marked, or all blocks of the
    kind if `layer` is None. In a `linked` drawing the page's `selected_map` sets the layer. A click
    sends the kind and the layer of a block.
    """
    stacks = [[each for each in kinds if each in layers] for kinds in STACKS.values()]
    header = {
        "stacks": [kinds for kinds in stacks if kinds],
        "layers": dict(layers),
        "labels": {each: labels[each] for each in layers},
        "kind": kind,
        "layer": layer,
        "linked": linked,
    }
    return CanvasPicture.pack(PART, header, height=HEIGHT)
