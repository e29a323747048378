"""A small drawing of a Transformer's stacks that marks an attention block."""

from collections.abc import Mapping
from typing import Any

from headlight.viz.canvas import CanvasPicture, Part

PART = Part.next_to(__file__, "Where this is in the model")
STACKS = {
    "encoder": ("encoder",),
    "decoder": ("decoder", "cross"),
}  # the kinds of a layer, in order
HEIGHT = 120  # pixels of a notebook's frame


def architecture_map(
    layers: Mapping[Any, int],
    *,
    labels: Mapping[Any, str],
    kind: str,
    layer: int | None = None,
    linked: bool = False,
) -> CanvasPicture:
    """The number of layers of each kind of attention, as blocks of an encoder and a decoder.

    The kinds are "encoder", "decoder" and "cross", and `labels` are their words. The block of
    `kind` and `layer`, from 0, is marked, or without a layer all blocks of the kind; in a `linked`
    drawing the layer is that of the page's `selected_map`. A click answers with the kind and the
    layer of a block.
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
