"""The one way in which pages call a model."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, nullcontext, suppress
from functools import partial, update_wrapper
from inspect import signature
from threading import Lock, Semaphore, local
from typing import Generic, ParamSpec, TypeVar

import streamlit as st
from cachetools.keys import hashkey

from pages.shared.runs import limits
from pages.shared.runs.housekeeping import released
from pages.shared.runs.results import Budget, Result, Results, size_of
from pages.shared.state import models


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
_budget = Budget(limits.ALL_RUNS_MEGABYTES * MEGABYTE)


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
        key, results = self._key(*args, **kwargs), session_results()
        kept = results.get(self._kind, key)
        if kept is not None:
            return kept.value
        in_turn = partial(_in_turn, self._function, *args, **kwargs)
        with st.spinner(self._words) if self._words and not _has_turn() else nullcontext():
            # A call within a call joins no other: it has a turn, for which the other may be
            # waiting.
            if _has_turn() or not self._is_common(args):
                value = in_turn()
            else:
                value = _together.answer((self._kind, key), in_turn)
        results.put(self._kind, key, Result(value, size_of(value)))
        _budget.keep_to(results)
        released()  # the results that made room, and what the call left in memory
        return value

    def kept(self, *args: Options.args, **kwargs: Options.kwargs) -> Value | None:
        """Return the kept result, or None; never call the model."""
        kept = session_results().get(self._kind, self._key(*args, **kwargs))
        return None if kept is None else kept.value

    def _is_common(self, args: tuple[object, ...]) -> bool:
        """Whether the result is the same for all sessions: the model is nobody's own."""
        handed_on = any(name.startswith("_") for name in self._signature.parameters)
        return not handed_on and any(getattr(value, "is_common", False) for value in args)

    def _key(self, *args: Options.args, **kwargs: Options.kwargs) -> Hashable:
        given = self._signature.bind_partial(*args, **kwargs)
        given.apply_defaults()
        if given.arguments.get("name", "") is None:
            given.arguments["name"] = models.chosen().key
        values = (value for name, value in given.arguments.items() if not name.startswith("_"))
        return hashkey(*values)


def _let_go(results: Results) -> None:
    """Free the results of a session that has ended."""
    results.clear()
    released()


@st.cache_resource(scope="session", show_spinner=False, on_release=_let_go)
def session_results() -> Results:
    """Return the results of this session, which end with it."""
    return Results(limits.RUN_MEGABYTES * MEGABYTE, limits.RUNS)


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
