"""Intercepts the functions of torch with which a model's own code computes attention.

A module that somebody wrote calls nn.MultiheadAttention, fused attention, flex_attention, or a
softmax of its scores. A `TorchFunctionMode`, which is bound to one thread, intercepts all four. A
softmax belongs to attention if its scores are a product of queries and keys, or if it is called
inside a module whose class has attention in its name. Every other softmax, such as that of a router
or of an output, is left alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from headlight.model.library.flow import Flow, Heads, Mixing, Origin, Scores
from headlight.model.library.fused import Projected, flex, multi_head, scaled_dot_product
from headlight.model.library.layouts import FIXED, Layout
from headlight.model.library.running import RUNNING, Running
from headlight.model.transformer.trace import Site

SOFTMAXES = {"softmax", "special_softmax"}
JOINS = {"cat", "concat", "concatenate"}
NOT_LAST = (
    "{name} takes a softmax over axis {axis} of scores of the shape {shape}, which is not the last "
    "one, so which of them are queries and keys cannot be told. Let the keys be the last axis of "
    "the scores, and take the softmax over it."
)
# Modules of torch that can compile a part of a model during its call.
COMPILING = ("torch._dynamo", "torch.nn.attention.flex_attention")


class Meets(Protocol):
    """The object that computes attention in place of torch: a `CodeCall`, or a trial."""

    site: Site | None  # the attention block of the last module that attended
    # a softmax outside attention: its module, and the shape of its input
    passed: tuple[nn.Module, tuple[int, ...]] | None

    def fused(
        self, running: Running, fixed: Layout | None, parts: Projected
    ) -> tuple[Tensor, Tensor]: ...

    def softmax(
        self,
        running: Running,
        given: Tensor,
        softmax: Callable[[Tensor], Tensor],
        origin: Origin | None,
    ) -> tuple[Tensor, Mixing]: ...

    def join(self, heads: Sequence[Heads]) -> None: ...

    def keep(self) -> None: ...


class AttentionMode(TorchFunctionMode):
    """Lets `call` compute all attention in modules with the hooks `enter` and `leave`."""

    def __init__(self, call: Meets, running: list[Running]) -> None:
        super().__init__()
        self.call, self.running, self.flow = call, running, Flow()

    def __torch_function__(
        self, function: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        running, kwargs = self.running, kwargs or {}
        # another call is running, such as a trial within this call
        if not running or RUNNING.get() is not running:
            return function(*args, **kwargs)
        name = getattr(function, "__name__", "")
        if function is F.multi_head_attention_forward:
            return multi_head(partial(self.call.fused, running[-1], FIXED), *args, **kwargs)
        if function is F.scaled_dot_product_attention:
            attend = partial(self.call.fused, running[-1], None)
            return self.followed(scaled_dot_product(attend, *args, **kwargs))
        if name == "flex_attention":
            attend = partial(self.call.fused, running[-1], None)
            heads, *statistics = flex(attend, function, *args, **kwargs)
            return self.followed(heads), *statistics
        if name in SOFTMAXES and isinstance(args[0], Tensor):
            given, *rest = args
            origin = self.flow.origin(given)
            axis = kwargs.get("dim", rest[0] if rest else -1)
            if isinstance(origin, Scores) and axis not in (-1, given.dim() - 1):
                part, shape = type(running[-1].module).__name__, tuple(given.shape)
                raise ValueError(NOT_LAST.format(name=part, axis=axis, shape=shape))
            known = isinstance(origin, Scores) or running[-1].is_attention
            if known and given.dim() > 2 and axis in (-1, given.dim() - 1):
                weights, mixing = self.call.softmax(
                    running[-1], given, lambda scores: function(scores, *rest, **kwargs), origin
                )
                self.flow.origins[weights] = replace(mixing, heads=self.heads())
                return weights
            self.call.passed = running[-1].module, tuple(given.shape)
        if name in JOINS and is_over_features(*args, **kwargs):
            origins = map(self.flow.origin, args[0] if args else kwargs["tensors"])
            self.call.join([origin for origin in origins if isinstance(origin, Heads)])
        return self.flow.call(function, args, kwargs)

    def heads(self) -> Heads:
        """Return the origin of the heads that the last attention computed."""
        return Heads(self.call.site, (*self.running,))

    def followed(self, heads: Tensor) -> Tensor:
        """Return the output of heads, after recording its origin in the flow."""
        self.flow.origins[heads] = self.heads()
        return heads


def is_over_features(tensors: Sequence[Tensor], dim: int = 0, **options: object) -> bool:
    """Return whether tensors are joined over their last axis."""
    return dim in (-1, tensors[0].dim() - 1)


@dataclass
class Uncompiled:
    """Keeps torch.compile from compiling a part of a model while any thread is in this context.

    Calls in compiled code cannot be intercepted. Torch has one setting for all threads, so the last
    thread that leaves restores the setting from before.
    """

    threads: int = 0
    stance: Any = None
    lock: Lock = field(default_factory=Lock)

    def __enter__(self) -> None:
        with self.lock:
            self.threads += 1
            if self.stance is None and any(name in sys.modules for name in COMPILING):
                self.stance = torch.compiler.set_stance("force_eager")

    def __exit__(self, *failure: object) -> None:
        with self.lock:
            self.threads -= 1
            if not self.threads and self.stance is not None:
                self.stance.__exit__(None, None, None)
                self.stance = None


UNCOMPILED = Uncompiled()


@contextmanager
def meeting(call: Meets) -> Iterator[None]:
    """Let `call` compute the attention of a model that is called in this context and thread."""
    running: list[Running] = getattr(call, "running", [])  # a trial has its own list
    token = RUNNING.set(running)
    try:
        with UNCOMPILED, AttentionMode(call, running):
            yield
        call.keep()
    finally:
        RUNNING.reset(token)
