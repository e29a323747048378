"""The modules of a model that are running in a thread, and their scores as maps of heads.

Some modules compute in blocks, as LongT5's encoder does. Each block of L queries sees its own block
of keys and the two next to it, so scores are (B, blocks, H, L, 3 L); the last block is padded.
Source: "LongT5: Efficient Text-To-Text Transformer for Long Sequences", section 3.1.1.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from headlight.model.library.layouts import Layout


@dataclass(eq=False)
class Running:
    """A module during its call, with the inputs of the call."""

    module: nn.Module
    inputs: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)
    # how often the module has attended; in a trial, the modules that it calls count too
    attended: int = 0

    @property
    def states(self) -> list[Tensor]:
        """The inputs that are tensors of real numbers, and not ids or masks of booleans."""
        given = (*self.inputs, *self.options.values())
        return [part for part in given if isinstance(part, Tensor) and part.is_floating_point()]

    @property
    def is_attention(self) -> bool:
        return "attention" in type(self.module).__name__.lower()

    def is_in_blocks(self, given: Tensor) -> bool:
        """Return whether the module computes in blocks of queries, as LongT5's encoder does."""
        return given.dim() == 5 and given.size(-1) == 3 * given.size(-2) and bool(self.inputs)

    def as_map(self, given: Tensor, layout: Layout, outside: float = 0.0) -> Tensor:
        """Return the module's scores or weights as (B, H, Q, K).

        In a model that computes in blocks, cells outside of all blocks become `outside`.
        """
        if self.is_in_blocks(given):
            return join_blocks(given, self.inputs[0].size(1), outside)
        return layout.maps(given)

    def as_given(self, cells: Tensor, given: Tensor, layout: Layout, outside: float) -> Tensor:
        """Return a map (B, H, Q, K) in the shape of `given`; the inverse of `as_map`."""
        if self.is_in_blocks(given):
            return split_blocks(cells, given.size(-2), outside)
        return layout.given(cells, given.shape)


# The modules that are running in this thread, the innermost last; None if no call is watched.
RUNNING: ContextVar[list[Running] | None] = ContextVar("running modules", default=None)


def enter(module: nn.Module, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Record that a module begins, if this thread is watched; a hook before its forward."""
    running = RUNNING.get()
    if running is not None:
        running.append(Running(module, inputs, options))


def leave(module: nn.Module, inputs: tuple[Any, ...], output: object) -> None:
    """Record that a module has ended, if this thread is watched; a hook after its forward."""
    running = RUNNING.get()
    if running is not None:
        running.pop()


def first_keys(queries: int, length: int, device: torch.device) -> Tensor:
    """Return the first key that each query's block sees: (queries, 1); it may be negative."""
    return (torch.arange(queries, device=device)[:, None] // length - 1) * length


def join_blocks(blocks: Tensor, tokens: int, outside: float) -> Tensor:
    """Return blocks (B, blocks, H, L, 3 L) as one map (B, H, tokens, tokens).

    Cells that belong to no block become `outside`.
    """
    length, width = blocks.shape[-2:]
    rows = blocks.transpose(1, 2).flatten(2, 3)[:, :, :tokens]  # (B, H, tokens, 3 L)
    keys = torch.arange(tokens, device=blocks.device)
    columns = keys - first_keys(tokens, length, blocks.device)  # (tokens, tokens)
    inside = (columns >= 0) & (columns < width)
    columns = columns.clamp(0, width - 1).expand(*rows.shape[:2], -1, -1)
    return rows.gather(-1, columns).where(inside, outside)


def split_blocks(cells: Tensor, length: int, outside: float) -> Tensor:
    """Return a map (B, H, tokens, tokens) as blocks (B, blocks, H, L, 3 L) of queries.

    Keys beyond the text become `outside`. Queries beyond the text, which are cut off later, get 0
    for the keys of the text.
    """
    tokens = cells.size(-1)
    queries = -(-tokens // length) * length
    rows = F.pad(cells, (0, 0, 0, queries - tokens))  # (B, H, queries, tokens)
    keys = torch.arange(3 * length, device=cells.device)
    keys = keys + first_keys(queries, length, cells.device)  # (queries, 3 L)
    inside = (keys >= 0) & (keys < tokens)
    keys = keys.clamp(0, tokens - 1).expand(*rows.shape[:2], -1, -1)
    blocks = rows.gather(-1, keys).where(inside, outside)
    return blocks.unflatten(2, (-1, length)).transpose(1, 2).contiguous()
