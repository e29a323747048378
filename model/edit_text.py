"""A visitor's edits as one readable text, such as a link can hold, and back.

    look-ahead.off~gate.cross.2.8.0~close.decoder.all.all.5.3-4

switches the look-ahead mask off, removes head 8 of the cross-attention's layer 2, and closes the
cells of query 5 with the keys 3 and 4 everywhere. All counts begin at 1, as on screen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from model.config import TransformerConfig
from model.edits import CellEdit, Edits
from model.trace import KINDS, Kind

MOST_CELLS = 5_000  # that a text may close or open
Span = tuple[int, int]  # first and last, from 0


def write_edits(edits: Edits) -> str:
    """Return the text of edits; empty if nothing was changed. Gates are written in percent."""
    switches = {"look-ahead": edits.look_ahead, "padding": edits.padding}
    parts = [f"{name}.off" for name, on in switches.items() if not on]
    parts += [f"window.{kind}.{width}" for kind, width in edits.windows.items()]
    parts += [
        f"gate.{kind}.{layer + 1}.{head + 1}.{gate:.0%}".rstrip("%")
        for (kind, layer, head), gate in edits.gates.items()
    ]
    return "~".join([*parts, *cell_texts(edits.cells)])


def cell_texts(cells: Sequence[CellEdit]) -> Iterator[str]:
    """Yield cells as rectangles, each in one text, in an order that has the same effect."""
    last: dict[CellEdit, CellEdit] = {}
    for cell in cells:
        place = replace(cell, opened=False)
        last.pop(place, None)
        last[place] = cell
    by_scope = groupby(last.values(), lambda cell: (cell.opened, cell.kind, cell.layer, cell.head))
    for (opened, kind, layer, head), group in by_scope:
        places = ["all" if place is None else str(place + 1) for place in (layer, head)]
        for queries, keys in rectangles({(cell.query, cell.key) for cell in group}):
            verb = "open" if opened else "close"
            yield ".".join([verb, kind, *places, span_text(queries), span_text(keys)])


def rectangles(cells: set[tuple[int, int]]) -> Iterator[tuple[Span, Span]]:
    """Yield rectangles that cover exactly these cells (query, key): spans of queries and keys."""
    open_since: dict[Span, int] = {}
    for query in range(min(cells)[0], max(cells)[0] + 2):
        row = set(spans(sorted(key for other, key in cells if other == query)))
        for keys in [keys for keys in open_since if keys not in row]:
            yield (open_since.pop(keys), query - 1), keys
        for keys in row - open_since.keys():
            open_since[keys] = query


def spans(numbers: Sequence[int]) -> Iterator[Span]:
    """Yield the runs of consecutive numbers among ascending ones."""
    for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        members = [number for _, number in run]
        yield members[0], members[-1]


def span_text(span: Span) -> str:
    """Return a span as text, counted from 1."""
    first, last = span
    return f"{first + 1}" if first == last else f"{first + 1}-{last + 1}"


def read_edits(text: str, config: TransformerConfig) -> Edits:
    """Return the edits of a text for a model of this shape.

    Raises ValueError if `write_edits` does not write such a text, or the model lacks a part of it.
    """
    switches: dict[str, bool] = {}
    windows: dict[Kind, int] = {}
    gates: dict[tuple[Kind, int, int], float] = {}
    cells: list[CellEdit] = []
    for part in text.split("~") if text else []:
        match part.split("."):
            case ["look-ahead" | "padding" as name, "off"]:
                switches[name.replace("-", "_")] = False
            case ["window", kind, width]:
                windows[read_kind(kind)] = read_number(width, 0, config.max_positions)
            case ["gate", kind, layer, head, percent]:
                site = read_kind(kind), read_layer(layer, kind, config), read_head(head, config)
                gates[site] = read_number(percent, 0, 100) / 100
            case ["open" | "close" as verb, kind, layer, head, queries, keys]:
                scope = (
                    None if layer == "all" else read_layer(layer, read_kind(kind), config),
                    None if head == "all" else read_head(head, config),
                )
                rows, columns = (read_span(span, config.max_positions) for span in (queries, keys))
                if len(cells) + len(rows) * len(columns) > MOST_CELLS:
                    raise ValueError(f"More than {MOST_CELLS} cells are changed.")
                cells += [
                    CellEdit(read_kind(kind), query, key, verb == "open", *scope)
                    for query in rows
                    for key in columns
                ]
            case _:
                raise ValueError(f"This is not a valid edit: {part}")
    return Edits(**switches, windows=windows, gates=gates, cells=tuple(cells))


def read_kind(text: str) -> Kind:
    """Return a kind of attention."""
    if text not in KINDS:
        raise ValueError(f"This is not a kind of attention: {text}")
    return text


def read_layer(text: str, kind: Kind, config: TransformerConfig) -> int:
    """Return a layer that the model has, from 0."""
    return read_number(text, 1, config.layers(read_kind(kind))) - 1


def read_head(text: str, config: TransformerConfig) -> int:
    """Return a head that the model has, from 0."""
    return read_number(text, 1, config.heads) - 1


def read_span(text: str, most: int) -> range:
    """Return the positions of a span, from 0."""
    first, dash, last = text.partition("-")
    start = read_number(first, 1, most)
    return range(start - 1, read_number(last, start, most) if dash else start)


def read_number(text: str, lowest: int, highest: int) -> int:
    """Return a whole number within bounds."""
    known = text.isascii() and text.isdecimal() and len(text) < 10
    if not (known and lowest <= int(text) <= highest):
        raise ValueError(f"This is not a number from {lowest} to {highest}: {text}")
    return int(text)
