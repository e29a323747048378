"""The modules of a model that are running in a thread, and their scores as maps of heads."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from headlight.model.library.blocks import join_blocks, split_blocks
from headlight.model.library.stages import by_heads


@dataclass(eq=False)
class Running:
    """A module during its call, with its inputs."""

    module: nn.Module
    inputs: tuple[Any, ...]
    attended: int = 0  # times

    @property
    def is_attention(self) -> bool:
        return "attention" in type(self.module).__name__.lower()

    def is_in_blocks(self, given: Tensor) -> bool:
        """Return whether it computes in blocks of queries, as LongT5's encoder does."""
        return given.dim() == 5 and given.size(-1) == 3 * given.size(-2) and bool(self.inputs)

    def as_map(self, given: Tensor, heads: int, outside: float = 0.0) -> Tensor:
        """Return its scores or weights as (B, H, Q, K), or the like of them.

        Some models have the heads in the batch, (B * H, Q, K), some in groups, (B, G, H / G, Q, K),
        and some compute in blocks; cells outside of all blocks become `outside`.
        """
        if self.is_in_blocks(given):
            return join_blocks(given, self.inputs[0].size(1), outside)
        return by_heads(given, heads)

    def as_given(self, cells: Tensor, given: Tensor, outside: float) -> Tensor:
        """Return (B, H, Q, K) in the shape of `given`, the inverse of `as_map`."""
        if self.is_in_blocks(given):
            return split_blocks(cells, given.size(-2), outside)
        return cells.reshape(given.shape).contiguous()


# The running modules of this thread that are watched, the innermost last; None if not watched.
RUNNING: ContextVar[list[Running] | None] = ContextVar("running modules", default=None)


def enter(module: nn.Module, inputs: tuple[Any, ...]) -> None:
    """Record that a module begins, if the thread is watched; a forward hook."""
    running = RUNNING.get()
    if running is not None:
        running.append(Running(module, inputs))


def leave(module: nn.Module, inputs: tuple[Any, ...], output: object) -> None:
    """Record that a module has ended, if the thread is watched; a forward hook."""
    running = RUNNING.get()
    if running is not None:
        running.pop()
