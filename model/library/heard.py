"""What the modules of a transformers model are given and return, while a thread listens."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple

from torch import Tensor, nn


class Call(NamedTuple):
    """The arguments of a module's call."""

    args: tuple[object, ...]
    options: Mapping[str, object]


@dataclass
class Heard:
    """The last inputs and outputs of modules in a call of the model, each (T, d_model)."""

    inputs: dict[nn.Module, Tensor] = field(default_factory=dict)
    outputs: dict[nn.Module, Tensor] = field(default_factory=dict)
    calls: dict[nn.Module, Call] = field(default_factory=dict)  # of modules that attend


HEARD: ContextVar[Heard | None] = ContextVar("heard", default=None)


def hear(module: nn.Module, inputs: tuple[object, ...], outputs: object) -> None:
    """Record the input and output of a module, if this thread listens; a forward hook."""
    heard = HEARD.get()
    if heard is None:
        return
    outputs = outputs[0] if isinstance(outputs, tuple) and outputs else outputs
    if inputs and isinstance(inputs[0], Tensor):
        heard.inputs[module] = as_rows(inputs[0])
    if isinstance(outputs, Tensor):
        heard.outputs[module] = as_rows(outputs)


def as_rows(states: Tensor) -> Tensor:
    """(1, T, d_model) -> (T, d_model) as float32; experts and some norms have (T, d_model)."""
    return states.flatten(0, -2).float() if states.dim() > 1 else states


def hear_call(module: nn.Module, args: tuple[object, ...], options: Mapping[str, object]) -> None:
    """Record the arguments of a module, if this thread listens; a forward hook before it."""
    if heard := HEARD.get():
        heard.calls[module] = Call(args, options)


@contextmanager
def listening() -> Iterator[Heard]:
    """Record the modules with the hook `hear` in this context and thread."""
    heard = Heard()
    token = HEARD.set(heard)
    try:
        yield heard
    finally:
        HEARD.reset(token)
