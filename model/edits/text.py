"""Writes and reads the parts of an edit's text: kinds, layers, heads and spans, from 1."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from headlight.model.shape import Shape
from headlight.model.transformer.trace import KINDS, Kind

Span = tuple[int, int]  # the first and the last number of a span, from 0


def rectangles(cells: set[tuple[int, int]]) -> Iterator[tuple[Span, Span]]:
    """Yield rectangles (a span of queries, a span of keys) that cover just these (query, key)."""
    open_since: dict[Span, int] = {}
    for query in sorted({at for row, _ in cells for at in (row, row + 1)}):
        row = set(spans(sorted(key for other, key in cells if other == query)))
        for keys in [keys for keys in open_since if keys not in row]:
            yield (open_since.pop(keys), query - 1), keys
        for keys in row - open_since.keys():
            open_since[keys] = query


def spans(numbers: Sequence[int]) -> Iterator[Span]:
    """Yield the runs of consecutive numbers in an ascending sequence."""
    for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        members = [number for _, number in run]
        yield members[0], members[-1]


def span_text(span: Span) -> str:
    """Return a span as text that counts from 1: '3', or '3-5'."""
    first, last = span
    return f"{first + 1}" if first == last else f"{first + 1}-{last + 1}"


def read_kind(text: str) -> Kind:
    """Return a text as a kind of attention; raises ValueError if it is none."""
    if text not in KINDS:
        raise ValueError(f"This is not a kind of attention: {text}")
    return text


def read_layer(text: str, kind: str, shape: Shape) -> int:
    """Return a layer of the model, from 0; raises ValueError if it has no such layer."""
    return read_number(text, 1, shape.layers(read_kind(kind))) - 1


def read_head(text: str, kind: str, shape: Shape) -> int:
    """Return a head of the model, from 0; raises ValueError if it has no such head."""
    return read_number(text, 1, shape.heads(read_kind(kind))) - 1


def read_span(text: str, most: int) -> range:
    """Return the positions, from 0, of a span such as '3-5'; raises ValueError beyond `most`."""
    first, dash, last = text.partition("-")
    start = read_number(first, 1, most)
    return range(start - 1, read_number(last, start, most) if dash else start)


def read_number(text: str, lowest: int, highest: int) -> int:
    """Return a text as a whole number; raises ValueError outside `lowest` to `highest`."""
    known = text.isascii() and text.isdecimal() and len(text) < 10
    if not (known and lowest <= int(text) <= highest):
        raise ValueError(f"This is not a number from {lowest} to {highest}: {text}")
    return int(text)


def how_many(count: int, what: str) -> str:
    """Return a number with its noun, such as '1 head' or '2 heads'."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
