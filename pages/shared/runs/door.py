"""The only way in which pages call a model, with the results that are kept."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable
from contextlib import nullcontext
from functools import partial, update_wrapper
from inspect import signature
from threading import Lock
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar

import numpy as np
import streamlit as st
from cachetools.keys import hashkey
from torch import Tensor, nn

from headlight.model.tokenizer import Tokenizer
from headlight.pages.shared.runs import limits
from headlight.pages.shared.runs.housekeeping import released
from headlight.pages.shared.runs.queue import AT_ONCE, Queue, Work, has_turn
from headlight.pages.shared.state import models


class ResultKey(NamedTuple):
    """The key of a result: its session, the function that was called, and its arguments."""

    session: object
    kind: str
    arguments: Hashable


class Result(NamedTuple):
    """The result of a call, and its size in bytes."""

    value: Any
    size: int


class Results:
    """The results of all sessions, the one used last at the end; threads may share it.

    The results that were unused for longest are dropped: there are at most `most_bytes` in all, at
    most `session_bytes` of a session, and at most `of_a_kind` results of a session and a function.
    """

    def __init__(self, most_bytes: int, session_bytes: int, of_a_kind: int) -> None:
        self.most_bytes, self.session_bytes = most_bytes, session_bytes
        self.of_a_kind = of_a_kind
        self._results: dict[ResultKey, Result] = {}
        self._lock = Lock()

    @property
    def size(self) -> int:
        return sum(result.size for result in self._results.values())

    def get(self, key: ResultKey) -> Result | None:
        """Return a kept result, or None if it was never kept or has made room for others."""
        with self._lock:
            result = self._results.pop(key, None)
            if result:
                self._results[key] = result
            return result

    def put(self, key: ResultKey, result: Result) -> None:
        """Keep a result, unless it is larger than all that a session may keep."""
        with self._lock:
            self._results.pop(key, None)
            if result.size > min(self.session_bytes, self.most_bytes):
                return
            self._results[key] = result
            mine = [each for each in self._results if each.session == key.session]
            alike = [each for each in mine if each.kind == key.kind]
            for oldest in alike[: -self.of_a_kind]:
                del self._results[oldest]
            self._make_room(mine, self.session_bytes)
            self._make_room([*self._results], self.most_bytes)

    def _make_room(self, keys: Iterable[ResultKey], most_bytes: int) -> None:
        """Drop the first of these results until they take at most `most_bytes`."""
        kept = [key for key in keys if key in self._results]
        excess = sum(self._results[key].size for key in kept) - most_bytes
        for key in kept:
            if excess <= 0:
                break
            excess -= self._results.pop(key).size

    def drop(self, session: object) -> None:
        with self._lock:
            for key in [key for key in self._results if key.session == session]:
                del self._results[key]


MEGABYTE = 1_000_000
Options = ParamSpec("Options")
Value = TypeVar("Value")

_queue = Queue(AT_ONCE)
_results = Results(
    limits.ALL_RUNS_MEGABYTES * MEGABYTE, limits.RUN_MEGABYTES * MEGABYTE, limits.RUNS
)


def is_busy() -> bool:
    """Return whether somebody's call is computed now, or waits for its turn."""
    return len(_queue) > 0


def model_call(
    words: str = "",
) -> Callable[[Callable[Options, Value]], ModelCall[Options, Value]]:
    """Make a function that calls a model a `ModelCall`; use it as a decorator.

    It runs when fewer than AT_ONCE others do, with `words` next to a spinner unless it is part of
    another call. Its result is kept for the session under its arguments, which are plain hashable
    values: the name of a model, the text, the edits. An argument whose name begins with an
    underscore is passed on but is not part of the key: a model that is already loaded, or a
    function that reports progress. An argument `name` that is None means the model that the visitor
    has chosen. The result is shared and must not be modified; errors are not kept.

    Sessions that call a function with the same run at the same time get one result, if all of them
    have its model. A function with an underscore argument, such as one that draws the progress,
    runs for each session.
    """

    def decorate(function: Callable[Options, Value]) -> ModelCall[Options, Value]:
        def work(*args: Options.args, **kwargs: Options.kwargs) -> Work[Value]:
            return Work.alone(partial(function, *args, **kwargs))

        return ModelCall(function, work, words)

    return decorate


def prepared_model_call(
    words: str = "",
) -> Callable[[Callable[Options, Work[Value]]], ModelCall[Options, Value]]:
    """Make a function that returns the `Work` of a call a `ModelCall`; see `model_call`.

    The function runs at once, in the visitor's session. Its work waits for its turn, and may be
    computed together with that of others.
    """
    return lambda function: ModelCall(function, function, words)


class ModelCall(Generic[Options, Value]):
    """A function that calls a model; see `model_call`."""

    def __init__(
        self,
        function: Callable[Options, object],
        work: Callable[Options, Work[Value]],
        words: str,
    ) -> None:
        self._work = work
        self._words = words
        self._kind = f"{function.__module__}.{function.__qualname__}"
        self._signature = signature(function)
        update_wrapper(self, function)

    def __call__(self, *args: Options.args, **kwargs: Options.kwargs) -> Value:
        """Return the kept result, or call the model."""
        key = self._key(*args, **kwargs)
        if kept := _results.get(key):
            return kept.value
        work = self._work(*args, **kwargs)
        question = (key.kind, key.arguments) if self._is_common(args) else object()
        # Work that can join others ends before a spinner would show, and a spinner costs a thread.
        is_long = self._words and not has_turn() and work.batch is None
        with st.spinner(self._words) if is_long else nullcontext():
            value = _queue.answer(question, work)
        _results.put(key, Result(value, size_of(value)))
        released()  # the dropped results, and memory left over by the call
        return value

    def kept(self, *args: Options.args, **kwargs: Options.kwargs) -> Value | None:
        """Return the kept result, or None; never call the model."""
        kept = _results.get(self._key(*args, **kwargs))
        return kept and kept.value

    def _is_common(self, args: tuple[object, ...]) -> bool:
        """Whether the result is the same for all sessions: the model is nobody's own."""
        handed_on = any(name.startswith("_") for name in self._signature.parameters)
        return not handed_on and any(getattr(value, "is_common", False) for value in args)

    def _key(self, *args: Options.args, **kwargs: Options.kwargs) -> ResultKey:
        given = self._signature.bind_partial(*args, **kwargs)
        given.apply_defaults()
        if given.arguments.get("name", "") is None:
            given.arguments["name"] = models.chosen().key
        values = (value for name, value in given.arguments.items() if not name.startswith("_"))
        return ResultKey(_session(), self._kind, hashkey(*values))


def _let_go(session: object) -> None:
    """Free the results of a session that has ended."""
    _results.drop(session)
    released()


@st.cache_resource(scope="session", show_spinner=False, on_release=_let_go)
def _session() -> object:
    """Return what identifies this session until it ends."""
    return object()


def size_of(value: object) -> int:
    """Return the bytes that a result takes; memory that is used twice in it counts once.

    Networks and tokenizers are not counted: they do not belong to a result.
    """
    total, seen, rest = 0, set(), [value]
    while rest:
        part = rest.pop()
        if id(part) in seen or isinstance(part, nn.Module | Tokenizer | type):
            continue
        seen.add(id(part))
        if isinstance(part, Tensor):
            storage = part.untyped_storage()
            if ("storage", storage.data_ptr()) not in seen:
                seen.add(("storage", storage.data_ptr()))
                total += storage.nbytes()
        elif isinstance(part, np.ndarray):
            rest += [part.base] if isinstance(part.base, np.ndarray) else []
            total += part.nbytes if part.base is None else 0
        else:
            total += sys.getsizeof(part)
            rest += parts_of(part)
    return total


def parts_of(value: object) -> Iterable[object]:
    """Return the items of a container, or an object's fields."""
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return value
    return getattr(value, "__dict__", {}).values()
