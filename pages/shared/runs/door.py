"""The decorators through which all pages call a model, and the store of the results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Sequence
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
    """The key of a result: the session, the function that was called, and the arguments."""

    session: object
    kind: str
    arguments: Hashable


class Result(NamedTuple):
    """The result of a call, and its size in bytes."""

    value: Any
    size: int


class Results:
    """The stored results of all sessions, ordered by last use; safe for use by several threads.

    The results unused for longest are dropped, so that all together take at most `most_bytes`, and
    those of a session at most `session_bytes`. A session has at most `of_a_kind` results of each
    function.
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
        """Return a stored result, or None if it was never stored or has been dropped."""
        with self._lock:
            result = self._results.pop(key, None)
            if result:
                self._results[key] = result
            return result

    def put(self, key: ResultKey, result: Result) -> None:
        """Store a result, unless it alone is larger than a session's limit."""
        with self._lock:
            self._results.pop(key, None)
            if result.size > min(self.session_bytes, self.most_bytes):
                return
            self._results[key] = result
            alike = [each for each in self._results if each[:2] == key[:2]]
            for oldest in alike[: -self.of_a_kind]:
                del self._results[oldest]
            mine = [item for item in self._results.items() if item[0].session == key.session]
            self._make_room(mine, self.session_bytes)
            self._make_room([*self._results.items()], self.most_bytes)

    def _make_room(self, results: Sequence[tuple[ResultKey, Result]], most_bytes: int) -> None:
        """Drop results from the start of the list until the rest take at most `most_bytes`."""
        excess = sum(result.size for _, result in results) - most_bytes
        for key, result in results:
            if excess <= 0:
                break
            del self._results[key]
            excess -= result.size

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
    """Return whether a model call of any session is being computed or waits for its turn."""
    return len(_queue) > 0


def model_call(
    words: str = "",
) -> Callable[[Callable[Options, Value]], ModelCall[Options, Value]]:
    """Return a decorator that turns a function which calls a model into a `ModelCall`.

    A call waits until fewer than AT_ONCE others run, and shows `words` next to a spinner unless it
    is part of another call. Its result is stored for the session by its arguments, which are plain
    hashable values: the name of a model, the text, the edits. An argument whose name begins with an
    underscore, such as a function that reports progress, does not decide which result is stored.
    An argument `name` that is None means the model that the visitor has chosen. The result is
    shared and must not be modified; errors are not stored.

    Sessions that make the same call at the same time share one computation, except for a visitor's
    own model and for functions with an underscore argument.
    """

    def decorate(function: Callable[Options, Value]) -> ModelCall[Options, Value]:
        def work(*args: Options.args, **kwargs: Options.kwargs) -> Work[Value]:
            return Work.alone(partial(function, *args, **kwargs))

        return ModelCall(function, work, words)

    return decorate


def prepared_model_call(
    words: str = "",
) -> Callable[[Callable[Options, Work[Value]]], ModelCall[Options, Value]]:
    """Return a decorator like `model_call`, for a function that returns the `Work` of a call.

    The function itself runs at once, in the visitor's session. The work that it returns waits for
    its turn, and may be computed in one batch with the work of other calls.
    """
    return lambda function: ModelCall(function, function, words)


class ModelCall(Generic[Options, Value]):
    """A function that calls a model and whose results are stored; see `model_call`."""

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
        """Return the stored result for these arguments; if there is none, call the model."""
        key = self._key(*args, **kwargs)
        if kept := _results.get(key):
            return kept.value
        work = self._work(*args, **kwargs)
        question = (key.kind, key.arguments) if self._is_common(args) else object()
        # Work that can join a batch is done before a spinner would appear, and each spinner costs a
        # thread: so there is none for it.
        is_long = self._words and not has_turn() and work.batch is None
        with st.spinner(self._words) if is_long else nullcontext():
            value = _queue.answer(question, work)
        _results.put(key, Result(value, size_of(value)))
        released()  # memory of dropped results and of the call itself
        return value

    def kept(self, *args: Options.args, **kwargs: Options.kwargs) -> Value | None:
        """Return the stored result, or None; this never calls the model."""
        kept = _results.get(self._key(*args, **kwargs))
        return kept and kept.value

    def _is_common(self, args: tuple[object, ...]) -> bool:
        """Return whether sessions can share this call's computation; see `model_call`."""
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
    """Return an object that identifies this session until it ends."""
    return object()


def size_of(value: object) -> int:
    """Return how many bytes of memory a result takes.

    Memory that several of its parts share counts once. Networks and tokenizers do not count: they
    belong to a model, not to a result.
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
            rest += () if isinstance(part, str | float | int) else parts_of(part)
    return total


def parts_of(value: object) -> Iterable[object]:
    """Return the items of a container, or the values of an object's fields."""
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return value
    return getattr(value, "__dict__", {}).values()
