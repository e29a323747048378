"""Edits of single cells of an attention matrix: closed or opened by hand, against any mask."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from torch import Tensor

from headlight.model.edits.text import (
    how_many,
    read_head,
    read_kind,
    read_layer,
    read_span,
    rectangles,
    span_text,
)
from headlight.model.shape import Shape
from headlight.model.transformer.trace import Kind, Site

MOST_CELLS = 5_000  # the most changed cells that a link may have


@dataclass(frozen=True)
class CellEdit:
    """A cell (query, key) closed or opened; None as layer or head means all. All count from 0."""

    kind: Kind
    query: int
    key: int
    opened: bool
    layer: int | None = None
    head: int | None = None

    def reaches(self, kind: Kind, layer: int | None, head: int | None) -> bool:
        """Return whether this edit applies to a head.

        None as `head` asks about all heads of the layer, None as `layer` about all layers.
        """
        return self.kind == kind and self.layer in (None, layer) and self.head in (None, head)


def after_stroke(
    cells: Sequence[CellEdit], stroke: Sequence[CellEdit], site: Site, head: int, visible: Tensor
) -> tuple[CellEdit, ...]:
    """Return the cell edits after a visitor drew over a head's mask; `stroke` has the new edits.

    The stroke replaces the earlier edits of its cells. An edit of the stroke is dropped if it
    changes nothing for the head: `visible` (Q, K) is what the head sees without any cell edit.
    """
    strokes = {(cell.query, cell.key): cell for cell in stroke}
    kept = tuple(
        cell
        for cell in cells
        if (new := strokes.get((cell.query, cell.key))) is None
        or not new.reaches(cell.kind, cell.layer, cell.head)
    )
    held = {(cell.query, cell.key): cell.opened for cell in kept if cell.reaches(*site, head)}
    needed = tuple(
        cell
        for position, cell in strokes.items()
        if held.get(position, bool(visible[position])) != cell.opened
    )
    return kept + needed


def with_cells(
    cells: Sequence[CellEdit], site: Site, heads: int, closed: Tensor, opened: Tensor
) -> tuple[Tensor, Tensor]:
    """Add cell edits to the closed and the opened cells (Q, K); return (H, Q, K) if heads differ.

    Edits have no effect beyond these positions, as after a longer sentence, or on heads that do not
    exist.
    """
    here = [
        cell
        for cell in cells
        if cell.kind == site.kind
        and cell.layer in (None, site.layer)
        and cell.head in (None, *range(heads))
        and 0 <= min(cell.query, cell.key) <= max(cell.query, cell.key) < len(closed)
    ]
    if any(cell.head is not None for cell in here):
        closed, opened = closed.repeat(heads, 1, 1), opened.repeat(heads, 1, 1)
    for cell in here:
        index = (..., cell.query, cell.key)
        if cell.head is not None:
            index = (cell.head, cell.query, cell.key)
        opened[index], closed[index] = cell.opened, not cell.opened
    return closed, opened


def write_cells(cells: Sequence[CellEdit]) -> Iterator[str]:
    """Yield cell edits as texts, one for each rectangle, in an order that has the same effect."""
    last: dict[CellEdit, CellEdit] = {}
    for cell in cells:
        either = replace(cell, opened=False)
        last.pop(either, None)
        last[either] = cell
    by_scope = groupby(last.values(), lambda cell: (cell.opened, cell.kind, cell.layer, cell.head))
    for (opened, kind, layer, head), group in by_scope:
        scope = ["all" if number is None else str(number + 1) for number in (layer, head)]
        for queries, keys in rectangles({(cell.query, cell.key) for cell in group}):
            verb = "open" if opened else "close"
            yield ".".join([verb, kind, *scope, span_text(queries), span_text(keys)])


def read_cells(texts: Sequence[str], shape: Shape, room: int) -> list[CellEdit]:
    """Return the cell edits of a rectangle, from the parts of its text.

    Raises ValueError if a model of this shape lacks these cells, or if there are more than `room`.
    """
    verb, kind, layer, head, queries, keys = texts
    scope = (
        None if layer == "all" else read_layer(layer, kind, shape),
        None if head == "all" else read_head(head, kind, shape),
    )
    rows, columns = (read_span(span, shape.max_positions) for span in (queries, keys))
    if len(rows) * len(columns) > room:
        raise ValueError(f"More than {MOST_CELLS} cells are changed.")
    return [
        CellEdit(read_kind(kind), query, key, verb == "open", *scope)
        for query in rows
        for key in columns
    ]


def cell_words(cells: Sequence[CellEdit], briefly: bool) -> list[str]:
    """Return texts such as '2 cells closed in head 1 of layer 3'; a cell's last edit counts.

    The heads are named if all edits are of the same heads. With `briefly`, they are only named if
    these are all heads of all layers.
    """
    last = {replace(cell, opened=False): cell.opened for cell in cells}
    counts = {"closed": len(last) - sum(last.values()), "opened": sum(last.values())}
    reaches = {(cell.layer, cell.head) for cell in cells}
    is_named = len(reaches) == 1 and (not briefly or reaches == {(None, None)})
    where = reach_words(*reaches.pop()) if is_named else ""
    return [f"{how_many(count, 'cell')} {what}{where}" for what, count in counts.items() if count]


def reach_words(layer: int | None, head: int | None) -> str:
    places = " of all layers" if layer is None else f" of layer {layer + 1}"
    return f" in all heads{places}" if head is None else f" in head {head + 1}{places}"
