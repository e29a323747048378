"""Tokens at other positions in a transformers model: learned ones, and rotary ones."""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor, nn

from headlight.model.trace import PositionEdit, RunEdits

POSITIONS = "position_ids"  # an argument of the modules that make angles of positions
MOVED: ContextVar[PositionEdit | None] = ContextVar("moved", default=None)


def let_move(model: nn.Module, table: nn.Embedding | None) -> bool:
    """Let `moving` change the positions of a model; return whether there is a module to do so.

    `table` has its learned positions, if they are known.
    """
    makers = [part for part in model.modules() if "Rotary" in type(part).__name__]
    makers = [part for part in makers if POSITIONS in inspect.signature(part.forward).parameters]
    for part in makers:
        part.register_forward_pre_hook(turn_otherwise, with_kwargs=True)
    if table is not None:
        table.register_forward_pre_hook(read_other_rows)
        table.register_forward_hook(leave_out, prepend=True)  # before others hear the output
    return bool(makers) or table is not None


def moved(edit: PositionEdit, positions: Tensor) -> Tensor:
    """Return the positions that an edit gives the tokens at these."""
    places = torch.tensor(edit.positions(0, int(positions.max()) + 1), device=positions.device)
    return places[positions]


def turn_otherwise(
    module: nn.Module, arguments: tuple[object, ...], options: dict[str, object]
) -> tuple[tuple[object, ...], dict[str, object]] | None:
    """Replace the positions that a module makes angles of; a hook before its call."""
    edit = MOVED.get()
    if edit is None:
        return None
    given = inspect.signature(module.forward).bind(*arguments, **options)
    positions = given.arguments[POSITIONS]
    given.arguments[POSITIONS] = positions * 0 if edit.off else moved(edit, positions)
    return given.args, given.kwargs


def read_other_rows(table: nn.Embedding, arguments: tuple[Tensor]) -> tuple[Tensor] | None:
    """Replace the positions whose rows a table returns; a hook before its call.

    Raises ValueError beyond the end of the table.
    """
    edit = MOVED.get()
    if edit is None or edit.off:
        return None
    places = moved(edit, *arguments)
    if (last := int(places.max())) >= table.num_embeddings:
        end = table.num_embeddings - 1
        raise ValueError(f"There is no position {last}: the learned table ends at {end}.")
    return (places,)


def leave_out(table: nn.Embedding, _: object, rows: Tensor) -> Tensor | None:
    """Return no positions at all if they are off; a hook after a table's call."""
    edit = MOVED.get()
    return torch.zeros_like(rows) if edit is not None and edit.off else None


@contextmanager
def moving(edits: RunEdits, *, can: bool) -> Iterator[None]:
    """Let calls of a model that reads one side find its tokens at other positions.

    Raises ValueError if positions are moved, and those of the model cannot be.
    """
    sides = [edit for edit in edits.values() if isinstance(edit, PositionEdit)]
    if sides and not can:
        raise ValueError("The positions of this model cannot be moved: only its heads and masks.")
    token = MOVED.set(next(iter(sides), None))
    try:
        yield
    finally:
        MOVED.reset(token)
