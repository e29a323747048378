"""The one way in which pages call a model, and the results that it keeps."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, nullcontext, suppress
from functools import partial, update_wrapper
from inspect import signature
from threading import Lock, Semaphore, local
from typing import Generic, NamedTuple, ParamSpec, TypeVar

import numpy as np
import streamlit as st
from cachetools.keys import hashkey
from torch import Tensor, nn

from headlight.model.tokenizer import Tokenizer
from headlight.pages.shared.runs import limits
from headlight.pages.shared.runs.housekeeping import released
from headlight.pages.shared.state import models


class Place(NamedTuple):
    """Where a result is kept: its session, the function that was called, and its arguments."""

    session: object
    kind: str
    key: Hashable


class Result(NamedTuple):
    """The result of a call, and its size in bytes."""

    value: object
    size: int


class Results:
    """The results of all sessions, the one used last at the end; threads may share it.

    Those not used for the longest time make room: there are at most `most_bytes` in all, at most
    `session_bytes` of a session, and at most `of_a_kind` results of a session and a function.
    """

    def __init__(self, most_bytes: int, session_bytes: int, of_a_kind: int) -> None:
        self.most_bytes, self.session_bytes = most_bytes, session_bytes
        self.of_a_kind = of_a_kind
        self._results: dict[Place, Result] = {}
        self._lock = Lock()

    @property
    def size(self) -> int:
        return sum(result.size for result in self._results.values())

    def get(self, place: Place) -> Result | None:
        """Return a kept result, or None if it was never kept or has made room for others."""
        with self._lock:
            result = self._results.pop(place, None)
            if result:
                self._results[place] = result
            return result

    def put(self, place: Place, result: Result) -> None:
        """Keep a result, unless it is larger than all that a session may keep."""
        with self._lock:
            self._results.pop(place, None)
            if result.size > min(self.session_bytes, self.most_bytes):
                return
            self._results[place] = result
            mine = [each for each in self._results if each.session == place.session]
            alike = [each for each in mine if each.kind == place.kind]
            for oldest in alike[: -self.of_a_kind]:
                del self._results[oldest]
            self._make_room(mine, self.session_bytes)
            self._make_room([*self._results], self.most_bytes)

    def _make_room(self, places: Iterable[Place], most_bytes: int) -> None:
        """Drop the first of these results until they take at most `most_bytes`."""
        kept = [place for place in places if place in self._results]
        excess = sum(self._results[place].size for place in kept) - most_bytes
        for place in kept:
            if excess <= 0:
                break
            excess -= self._results.pop(place).size

    def drop(self, session: object) -> None:
        with self._lock:
            for place in [place for place in self._results if place.session == session]:
                del self._results[place]


class Together:
    """The questions that are being computed; threads share it.

    Nothing is kept: a question is forgotten once its answer is there. So a visitor could learn only
    that somebody asks the very same within the tenths of a second that it takes, by getting the
    answer a little sooner, which looks the same as a less busy server.
    """

    def __init__(self) -> None:
        self._asked: dict[Hashable, Future] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._asked)

    def answer(self, question: Hashable, compute: Callable[[], object]) -> object:
        """Return the result of `compute` to all who ask until it is there.

        An error is raised for all of them. If the one who computes is stopped because their visitor
        has left, another computes it.
        """
        while True:
            with self._lock:
                waited_for = self._asked.get(question)
                if waited_for is None:
                    mine = self._asked[question] = Future()
            if waited_for is None:
                return self._computed(question, mine, compute)
            with suppress(CancelledError):
                return waited_for.result()

    def _computed(self, question: Hashable, mine: Future, compute: Callable[[], object]) -> object:
        try:
            value = compute()
        except BaseException as error:
            self._forget(question)
            mine.set_exception(error) if isinstance(error, Exception) else mine.cancel()
            raise
        self._forget(question)
        mine.set_result(value)
        return value

    def _forget(self, question: Hashable) -> None:
        with self._lock:
            del self._asked[question]


MEGABYTE = 1_000_000
AT_ONCE = limits.of_this_worker(2)  # calls of models, in all sessions together
Options = ParamSpec("Options")
Value = TypeVar("Value")

_running = Semaphore(AT_ONCE)
_thread = local()
_together = Together()
_results = Results(
    limits.ALL_RUNS_MEGABYTES * MEGABYTE, limits.RUN_MEGABYTES * MEGABYTE, limits.RUNS
)


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
    return lambda function: ModelCall(function, words)


class ModelCall(Generic[Options, Value]):
    """A function that calls a model; see `model_call`."""

    def __init__(self, function: Callable[Options, Value], words: str) -> None:
        self._function = function
        self._words = words
        self._kind = f"{function.__module__}.{function.__qualname__}"
        self._signature = signature(function)
        update_wrapper(self, function)

    def __call__(self, *args: Options.args, **kwargs: Options.kwargs) -> Value:
        """Return the kept result, or call the model."""
        place = self._place(*args, **kwargs)
        if kept := _results.get(place):
            return kept.value
        in_turn = partial(_in_turn, self._function, *args, **kwargs)
        with st.spinner(self._words) if self._words and not _has_turn() else nullcontext():
            # A call within a call joins no other: it has a turn, for which the other may be
            # waiting.
            if _has_turn() or not self._is_common(args):
                value = in_turn()
            else:
                value = _together.answer((place.kind, place.key), in_turn)
        _results.put(place, Result(value, size_of(value)))
        released()  # the results that made room, and what the call left in memory
        return value

    def kept(self, *args: Options.args, **kwargs: Options.kwargs) -> Value | None:
        """Return the kept result, or None; never call the model."""
        kept = _results.get(self._place(*args, **kwargs))
        return kept and kept.value

    def _is_common(self, args: tuple[object, ...]) -> bool:
        """Whether the result is the same for all sessions: the model is nobody's own."""
        handed_on = any(name.startswith("_") for name in self._signature.parameters)
        return not handed_on and any(getattr(value, "is_common", False) for value in args)

    def _place(self, *args: Options.args, **kwargs: Options.kwargs) -> Place:
        given = self._signature.bind_partial(*args, **kwargs)
        given.apply_defaults()
        if given.arguments.get("name", "") is None:
            given.arguments["name"] = models.chosen().key
        values = (value for name, value in given.arguments.items() if not name.startswith("_"))
        return Place(_session(), self._kind, hashkey(*values))


def _let_go(session: object) -> None:
    """Free the results of a session that has ended."""
    _results.drop(session)
    released()


@st.cache_resource(scope="session", show_spinner=False, on_release=_let_go)
def _session() -> object:
    """Return what identifies this session until it ends."""
    return object()


def _has_turn() -> bool:
    return getattr(_thread, "has_turn", False)


def _in_turn(
    function: Callable[Options, Value], *args: Options.args, **kwargs: Options.kwargs
) -> Value:
    """Call a model when it may be called."""
    with _turn():
        return function(*args, **kwargs)


@contextmanager
def _turn() -> Iterator[None]:
    """Wait until a model may be called; a call within a call already has its turn."""
    if _has_turn():
        yield
        return
    with _running:
        _thread.has_turn = True
        try:
            yield
        finally:
            _thread.has_turn = False


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
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, Sequence | Set) and not isinstance(value, str | bytes):
        return value
    return getattr(value, "__dict__", {}).values()
