"""Gates of heads as edits: 0 removes a head, 1 keeps it, and a number between fades it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import torch
from torch import Tensor

from headlight.model.edits.text import (
    Span,
    how_many,
    read_kind,
    read_layer,
    read_number,
    read_span,
    span_text,
    spans,
)
from headlight.model.shape import Shape
from headlight.model.transformer.trace import Kind, Site

MOST_NAMED = 6  # the most heads, or spans of heads in a layer, that a description names

# the kind of attention, the layer and the head; both count from 0
HeadAddress = tuple[Kind, int, int]
Gates = Mapping[HeadAddress, float]


def gate_at(gates: Gates, site: Site, heads: int) -> Tensor:
    """Return the gates of an attention block's heads (H,); gates of other heads are ignored."""
    gate = torch.ones(heads)
    for (kind, layer, head), value in gates.items():
        if (kind, layer) == site and head in range(heads):
            gate[head] = value
    return gate


def alike(gates: Gates) -> Iterator[tuple[Kind, int, Span, float]]:
    """Yield gates in the order of heads; neighbours in a layer with equal gates are one span."""
    for (kind, layer, gate), run in groupby(gates.items(), lambda item: (*item[0][:2], item[1])):
        for span in spans([head for (_, _, head), _ in run]):
            yield kind, layer, span, gate


def write_gates(gates: Gates) -> Iterator[str]:
    """Yield gates as texts: 'gate.cross.2.8.50' sets head 8 of layer 2 to 50 percent."""
    for kind, layer, heads, gate in alike(gates):
        yield f"gate.{kind}.{layer + 1}.{span_text(heads)}.{gate:.0%}".rstrip("%")


def read_gates(texts: Sequence[str], shape: Shape) -> Gates:
    """Return gates from the parts of a text; raises ValueError if this shape lacks a head."""
    kind, layer, heads, percent = read_kind(texts[0]), *texts[1:]
    number = read_layer(layer, kind, shape)
    gate = read_number(percent, 0, 100) / 100
    return {(kind, number, head): gate for head in read_span(heads, shape.heads(kind))}


def gate_words(gates: Gates, kinds: Mapping[Kind, str], briefly: bool) -> list[str]:
    """Return gates in words: heads by name, or with `briefly` their number, as in '1 head off'."""
    changed = {address: gate for address, gate in gates.items() if gate != 1}
    if briefly:
        off = sum(gate == 0 for gate in changed.values())
        counts = {"off": off, "faded": len(changed) - off}
        return [f"{how_many(count, 'head')} {what}" for what, count in counts.items() if count]
    parts = [*alike(changed)]
    words = [
        f"{kinds[kind]}, layer {layer + 1}, {heads_in_words(heads)} "
        + ("off" if gate == 0 else f"faded to {gate:.2f}")
        for kind, layer, heads, gate in parts[:MOST_NAMED]
    ]
    more = sum(last - first + 1 for _, _, (first, last), _ in parts[MOST_NAMED:])
    return words + ([f"{how_many(more, 'more head')} off or faded"] if more else [])


def heads_in_words(heads: Span) -> str:
    first, last = heads
    return f"head {first + 1}" if first == last else f"heads {first + 1} to {last + 1}"
