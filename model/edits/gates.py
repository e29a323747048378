"""Gates of heads as edits: 0 removes a head, 1 keeps it, and a number between fades it."""

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from headlight.model.edits.text import how_many, read_head, read_kind, read_layer, read_number
from headlight.model.trace import Kind, Shape, Site

MOST_HEADS = 6  # that are named one by one

HeadAddress = tuple[Kind, int, int]  # kind, layer and head, from 0
Gates = Mapping[HeadAddress, float]


def gate_at(gates: Gates, site: Site, heads: int) -> Tensor:
    """Return the gates of a site's heads: (H,). Gates of heads beyond them have no effect."""
    gate = torch.ones(heads)
    for (kind, layer, head), value in gates.items():
        if (kind, layer) == site and head < heads:
            gate[head] = value
    return gate


def write_gates(gates: Gates) -> Iterator[str]:
    """Yield gates as texts, in percent."""
    for (kind, layer, head), gate in gates.items():
        yield f"gate.{kind}.{layer + 1}.{head + 1}.{gate:.0%}".rstrip("%")


def read_gate(texts: Sequence[str], shape: Shape) -> tuple[HeadAddress, float]:
    """Return a head and its gate; raises ValueError if a model of this shape has no such head."""
    kind, layer, head, percent = texts
    address = read_kind(kind), read_layer(layer, kind, shape), read_head(head, kind, shape)
    return address, read_number(percent, 0, 100) / 100


def gate_words(gates: Gates, kinds: Mapping[Kind, str], briefly: bool) -> list[str]:
    """Return gates in words; `briefly` counts the heads."""
    changed = {address: gate for address, gate in gates.items() if gate != 1}
    if briefly:
        off = sum(gate == 0 for gate in changed.values())
        counts = {"off": off, "faded": len(changed) - off}
        return [f"{how_many(count, 'head')} {what}" for what, count in counts.items() if count]
    words = [
        f"{kinds[kind]}, layer {layer + 1}, head {head + 1} "
        + ("off" if gate == 0 else f"faded to {gate:.2f}")
        for (kind, layer, head), gate in changed.items()
    ]
    more = len(words) - MOST_HEADS
    return words[:MOST_HEADS] + ([f"{more} more heads off or faded"] if more > 0 else [])
