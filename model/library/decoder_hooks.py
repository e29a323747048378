"""Hooks that capture what a decoder's modules compute, or fix the scales of its norms.

They only act in threads that ask for it. A norm whose scales are fixed at those of one run is
linear.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from headlight.model.stream import FrozenNorm, freeze, is_close


class Call(NamedTuple):
    """The arguments of a module's call."""

    args: tuple[Any, ...]
    options: Mapping[str, Any]


@dataclass
class Captured:
    """The inputs and outputs (T, d_model) of modules in their last call."""

    inputs: dict[nn.Module, Tensor] = field(default_factory=dict)
    outputs: dict[nn.Module, Tensor] = field(default_factory=dict)
    # the last call of each module that attends
    calls: dict[nn.Module, Call] = field(default_factory=dict)


CAPTURED: ContextVar[Captured | None] = ContextVar("captured", default=None)


def capture(module: nn.Module, inputs: tuple[object, ...], outputs: object) -> None:
    """Record a module's input and output if this thread is `capturing`; a forward hook."""
    captured = CAPTURED.get()
    if captured is None:
        return
    outputs = outputs[0] if isinstance(outputs, tuple) and outputs else outputs
    if inputs and isinstance(inputs[0], Tensor):
        captured.inputs[module] = as_rows(inputs[0])
    if isinstance(outputs, Tensor):
        captured.outputs[module] = as_rows(outputs)


def as_rows(states: Tensor) -> Tensor:
    """Return states (1, T, d_model), or of experts (T, d_model), as (T, d_model) in float32."""
    return states.flatten(0, -2).float() if states.dim() > 1 else states


def hear_call(module: nn.Module, args: tuple[Any, ...], options: Mapping[str, Any]) -> None:
    """Record a module's arguments if this thread is `capturing`; a hook before its call."""
    if captured := CAPTURED.get():
        captured.calls[module] = Call(args, options)


@contextmanager
def capturing() -> Iterator[Captured]:
    """Let modules with the hooks `capture` or `hear_call` record in this context and thread."""
    captured = Captured()
    token = CAPTURED.set(captured)
    try:
        yield captured
    finally:
        CAPTURED.reset(token)


@dataclass
class Held:
    """The norms of a module's first call, in their order; later calls use the same scales."""

    norms: list[FrozenNorm] = field(default_factory=list)
    place: int = 0  # the index of the next norm; set to 0 before every later call of the module


HELD: ContextVar[Held | None] = ContextVar("held norms", default=None)


@contextmanager
def holding() -> Iterator[Held]:
    """Give norms with the hook `hold` the scales of the first call, in this context and thread."""
    held = Held()
    token = HELD.set(held)
    try:
        yield held
    finally:
        HELD.reset(token)


def hold(norm: nn.Module, inputs: tuple[Tensor, ...], outputs: Tensor) -> Tensor | None:
    """Compute a norm with the scales of its first call if this thread is `holding`; a hook."""
    held = HELD.get()
    if held is None:
        return None
    states = inputs[0].flatten(0, -2).float()
    if held.place == len(held.norms):
        frozen = freeze_any(norm, states.detach(), outputs.detach().flatten(0, -2).float())
        held.norms.append(frozen)
    held.place += 1
    return held.norms[held.place - 1].outputs(states).view_as(outputs).to(outputs)


def is_norm(module: nn.Module) -> bool:
    return "norm" in type(module).__name__.lower()


def freeze_any(norm: nn.Module, states: Tensor, outputs: Tensor, factor: float = 1.0) -> FrozenNorm:
    """Return a layer norm or RMS norm, times a factor, with the scales of one run.

    In that run the norm mapped `states` to `outputs`, both (T, d_model). Its weight may be the gain
    or, in some models, the gain minus 1. Raises ValueError if the norm has another form.
    """
    weight = getattr(norm, "weight", None)
    dtype = states.dtype if weight is None else weight.dtype
    weight = torch.ones_like(states[0]) if weight is None else weight.detach().float()
    bias = getattr(norm, "bias", None)
    bias = torch.zeros_like(weight) if bias is None else bias.detach().float()
    for gain in (weight, 1 + weight):
        for centered in (False, True):
            frozen = freeze(states, outputs, gain, bias, centered=centered)
            if is_close(frozen.outputs(states), outputs, dtype):
                return replace(frozen, scales=factor * frozen.scales, bias=factor * bias)
    raise ValueError("A norm is neither a layer norm nor an RMS norm.")
