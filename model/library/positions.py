"""Find how a transformers model's rotary positions turn queries and keys, and move tokens.

Families of models compute rotary positions in several ways. So the calls of the library's function
are captured while the model reads a short text; a way is known only if our own rotation of the
captured queries gives the queries that the attention recorded.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from headlight.model.edits.positions import PositionEdit
from headlight.model.library.configuration import rotary_settings
from headlight.model.rotary import Rotary
from headlight.model.stream import is_close
from headlight.model.transformer.trace import AttentionRecord, RunEdits, Site

if TYPE_CHECKING:
    from transformers import PreTrainedModel

# the name of the rotating function in every model file of the library
FUNCTION = "apply_rotary_pos_emb"
# the name of the argument with positions, in modules that compute angles
POSITIONS = "position_ids"
MOVED: ContextVar[PositionEdit | None] = ContextVar("moved", default=None)


class RotaryCall(NamedTuple):
    """The arguments of a call of the library's function: a query, and its cosines and sines."""

    query: Tensor  # (B, H, T, R or D)
    cos: Tensor
    sin: Tensor


CAPTURED: ContextVar[dict[nn.Module, RotaryCall] | None] = ContextVar("captured", default=None)


@contextmanager
def capturing_rotary(model: nn.Module) -> Iterator[dict[nn.Module, RotaryCall]]:
    """Record the arguments that a model's modules give to the library's function in this thread."""
    files = {sys.modules[type(part).__module__] for part in model.modules()}
    functions = {file: vars(file)[FUNCTION] for file in files if FUNCTION in vars(file)}
    running: list[nn.Module] = []

    def begin(module: nn.Module, _: object) -> None:
        running[:] = [module]

    def note(function: Callable, *given: Any, **options: Any) -> Any:
        named = inspect.signature(function).bind(*given, **options).arguments
        if (captured := CAPTURED.get()) is not None and running and {"cos", "sin"} <= named.keys():
            # the query; some families turn the key in a later call
            query = next(iter(named.values()))
            captured.setdefault(running[-1], RotaryCall(query, named["cos"], named["sin"]))
        return function(*given, **options)

    attending = [part for part in model.modules() if "Attention" in type(part).__name__]
    hooks = [part.register_forward_pre_hook(begin) for part in attending]
    captured: dict[nn.Module, RotaryCall] = {}
    token = CAPTURED.set(captured)
    try:
        for file, function in functions.items():
            setattr(file, FUNCTION, partial(note, function))
        yield captured
    finally:
        for file, function in functions.items():
            setattr(file, FUNCTION, function)
        CAPTURED.reset(token)
        for hook in hooks:
            hook.remove()


def find_rotary(
    model: PreTrainedModel,
    captured: Mapping[nn.Module, RotaryCall],
    sites: Mapping[nn.Module, Sequence[Site]],
    records: Mapping[Site, AttentionRecord],
) -> dict[Site, Rotary]:
    """Return the rotary positions of the attention blocks for which they are known."""
    buffers = [each for name, each in model.named_buffers() if name.endswith("inv_freq")]
    known = {}
    for module, call in captured.items():
        for site in sites.get(module, ()):
            settings = rotary_settings(model.config, site.layer)
            length = torch.hypot(call.cos.float(), call.sin.float()).flatten()[0].item()
            for interleaved in (False, True):
                for frequencies in buffers:
                    rotary = Rotary(frequencies.float(), interleaved, length, settings)
                    if turns_alike(rotary, call.query, records[site].query):
                        known.setdefault(site, rotary)
    return known


def turns_alike(rotary: Rotary, query: Tensor, recorded: Tensor) -> bool:
    """Return whether `rotary` turns a query (1, H, T, R or D) into the recorded (1, H, T, D)."""
    width = query.size(-1)
    sizes = query.shape[:-1] == recorded.shape[:-1] and rotary.width <= width
    if not sizes or width > recorded.size(-1):
        return False
    positions = torch.arange(query.size(-2), device=query.device)
    turned = rotary.turn(query.float(), positions)
    return is_close(turned, recorded[..., :width], query.dtype)


def let_move(model: nn.Module, table: nn.Embedding | None) -> bool:
    """Add the hooks with which `moving` changes a model's positions; return whether it can.

    `table` holds the model's learned positions, if they are known.
    """
    makers = [part for part in model.modules() if "Rotary" in type(part).__name__]
    makers = [part for part in makers if POSITIONS in inspect.signature(part.forward).parameters]
    for part in makers:
        part.register_forward_pre_hook(turn_otherwise, with_kwargs=True)
    if table is not None:
        table.register_forward_pre_hook(read_other_rows)
        # this hook runs before other hooks see the output
        table.register_forward_hook(leave_out, prepend=True)
    return bool(makers) or table is not None


def moved(edit: PositionEdit, positions: Tensor) -> Tensor:
    """Return the positions to which an edit moves the tokens at these `positions`."""
    places = torch.tensor(edit.positions(0, int(positions.max()) + 1), device=positions.device)
    return places[positions]


def turn_otherwise(
    module: nn.Module, arguments: tuple[object, ...], options: dict[str, object]
) -> tuple[tuple[object, ...], dict[str, object]] | None:
    """Replace the positions for which a module computes angles; a hook before its call."""
    edit = MOVED.get()
    if edit is None:
        return None
    given = inspect.signature(module.forward).bind(*arguments, **options)
    positions = given.arguments[POSITIONS]
    given.arguments[POSITIONS] = positions * 0 if edit.off else moved(edit, positions)
    return given.args, given.kwargs


def read_other_rows(table: nn.Embedding, arguments: tuple[Tensor]) -> tuple[Tensor] | None:
    """Replace the positions whose rows a table returns; a hook before its call.

    Raises ValueError if a position is beyond the end of the table.
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
    """Return zeros in place of a table's rows if positions are off; a hook after its call."""
    edit = MOVED.get()
    return torch.zeros_like(rows) if edit is not None and edit.off else None


@contextmanager
def moving(edits: RunEdits, *, can: bool) -> Iterator[None]:
    """Move the tokens to other positions in a model's calls in this context, as `edits` say.

    Raises ValueError if `edits` move positions and `can` is False.
    """
    sides = [edit for edit in edits.values() if isinstance(edit, PositionEdit)]
    if sides and not can:
        raise ValueError("The positions of this model cannot be changed. Its heads and masks can.")
    token = MOVED.set(next(iter(sides), None))
    try:
        yield
    finally:
        MOVED.reset(token)
