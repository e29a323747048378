"""Call a model again with the same inputs: copy its cache, and do not record the second call."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from typing import Any

import torch
from torch import Tensor, nn

from headlight.model.library.running import RUNNING, Running

UNPACKED = "TRANSFORMERS_SDPA_FORCE_GQA"  # an environment variable of the transformers library


def copied(part: Any, in_cache: bool = False) -> Any:
    """Return a copy of a model's input, so that a call can change only the copy.

    Tensors, lists, tuples and dictionaries are copied, and objects whose class has "cache" in its
    name, with their contents. Other objects are returned uncopied.
    """
    if isinstance(part, Tensor):
        return part.clone()
    if isinstance(part, list | tuple | dict):
        pairs = part.items() if isinstance(part, dict) else enumerate(part)
        several = {name: copied(each, in_cache) for name, each in pairs}
        if isinstance(part, dict):
            other = copy.copy(part)  # keeps its class, such as an output of transformers
            for name, each in several.items():
                other[name] = each
            return other
        values = [*several.values()]
        return type(part)(*values) if hasattr(part, "_fields") else type(part)(values)
    in_cache |= "cache" in type(part).__name__.lower()
    if not in_cache or isinstance(part, nn.Module | type) or not hasattr(part, "__dict__"):
        return part
    other = copy.copy(part)
    vars(other).update({name: copied(each, True) for name, each in vars(part).items()})
    return other


class Entered(list[Running]):
    """The modules that run now; lists and caches in their inputs are copied when they begin."""

    def append(self, running: Running) -> None:
        super().append(
            replace(
                running,
                inputs=tuple(map(at_entry, running.inputs)),
                options={name: at_entry(part) for name, part in running.options.items()},
            )
        )


def at_entry(part: Any) -> Any:
    """Return a copy of an input, so that the module cannot change it; return a tensor uncopied."""
    return part if isinstance(part, Tensor) else copied(part)


@contextmanager
def unpacked(value: str | None = "1") -> Iterator[None]:
    """Stop transformers from putting heads that share keys into the axis of the queries.

    The library does this for a single query. Queries and heads could then not be told apart.
    """
    before = os.environ.pop(UNPACKED, None)
    os.environ.update({} if value is None else {UNPACKED: value})
    try:
        yield
    finally:
        os.environ.pop(UNPACKED, None)
        os.environ.update({} if before is None else {UNPACKED: before})


@contextmanager
def unwatched() -> Iterator[None]:
    """In this context, let modules compute without recording and without gradients.

    The shortcut of torch for encoders is off too, because it writes 0 in place of padding.
    """
    enabled = torch.backends.mha.get_fastpath_enabled()
    token = RUNNING.set(None)
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with torch.no_grad(), unpacked(None):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(enabled)
        RUNNING.reset(token)


@contextmanager
def overheard(model: nn.Module, hear: Callable[[object, int], None]) -> Iterator[None]:
    """In this context, pass each result of generate() and its number of beams to `hear`."""
    models: list[Any] = [part for part in model.modules() if hasattr(type(part), "generate")]

    def heard(part: Any) -> Callable:
        generate = part.generate

        @wraps(generate)
        def generating(*args: Any, **options: Any) -> Any:
            output = generate(*args, **options)
            settings = options.get("generation_config") or getattr(part, "generation_config", None)
            beams = options.get("num_beams", getattr(settings, "num_beams", None))
            hear(output, beams or 1)
            return output

        return generating

    before = {part: vars(part).get("generate") for part in models}
    for part in models:
        vars(part)["generate"] = heard(part)
    try:
        yield
    finally:
        for part, own in before.items():
            del vars(part)["generate"]
            vars(part).update({} if own is None else {"generate": own})
