"""The one door through which pages call a model."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial, update_wrapper
from inspect import signature
from threading import Semaphore, local
from typing import Generic, ParamSpec, TypeVar

import streamlit as st
from cachetools.keys import hashkey

from pages.shared.runs import limits
from pages.shared.runs.housekeeping import released
from pages.shared.runs.results import Budget, Result, Results, size_of
from pages.shared.runs.together import Together
from pages.shared.state import models

MEGABYTE = 1_000_000
AT_ONCE = limits.of_this_worker(2)  # calls of models, of all sessions together
Options = ParamSpec("Options")
Value = TypeVar("Value")

_running = Semaphore(AT_ONCE)
_thread = local()
_together = Together()
_budget = Budget(limits.ALL_RUNS_MEGABYTES * MEGABYTE)


def model_call(
    words: str = "",
) -> Callable[[Callable[Options, Value]], ModelCall[Options, Value]]:
    """Make a function that calls a model one of the door; use it as a decorator.

    It runs when fewer than AT_ONCE others do, with `words` beside a spinner unless it is part of
    another call, and its result is kept for the session under its arguments, which are plain
    hashable values: the name of a model, the text, the edits. An argument whose name begins with an
    underscore is passed on and is not part of the key: a model that is already at hand, or a
    function that reports progress. An argument `name` that is None is the model that the visitor
    has chosen. The result is shared and not to be modified; of an error nothing is kept.

    Sessions that ask the same of a run at the same time, of a model that all of them have, get one
    result. A function that is handed something more, such as one that draws the way there, runs for
    each.
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
        """Return what was kept, or else call the model."""
        key, results = self._key(*args, **kwargs), session_results()
        kept = results.get(self._kind, key)
        if kept is not None:
            return kept.value
        in_turn = partial(_in_turn, self._function, *args, **kwargs)
        with st.spinner(self._words) if self._words and not _has_turn() else nullcontext():
            # A call within a call has its turn, for which the one that it would wait for may wait.
            if _has_turn() or not self._is_common(args):
                value = in_turn()
            else:
                value = _together.answer((self._kind, key), in_turn)
        results.put(self._kind, key, Result(value, size_of(value)))
        _budget.keep_to(results)
        released()  # what made room, and what the call left behind
        return value

    def kept(self, *args: Options.args, **kwargs: Options.kwargs) -> Value | None:
        """Return what was computed before, or None; never call the model."""
        kept = session_results().get(self._kind, self._key(*args, **kwargs))
        return None if kept is None else kept.value

    def _is_common(self, args: tuple[object, ...]) -> bool:
        """Whether the result is the same for whoever asks: the model is nobody's own."""
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
    """Free what a session computed, now that it has ended."""
    results.clear()
    released()


@st.cache_resource(scope="session", show_spinner=False, on_release=_let_go)
def session_results() -> Results:
    """Return the results of this session, which end with it."""
    return Results(limits.RUN_MEGABYTES * MEGABYTE, limits.RUNS)


def _has_turn() -> bool:
    """Return whether this thread calls a model already."""
    return getattr(_thread, "has_turn", False)


def _in_turn(
    function: Callable[Options, Value], *args: Options.args, **kwargs: Options.kwargs
) -> Value:
    """Call a model when it may be called."""
    with _turn():
        return function(*args, **kwargs)


@contextmanager
def _turn() -> Iterator[None]:
    """Wait until a model may be called; a call within a call has its turn already."""
    if _has_turn():
        yield
        return
    with _running:
        _thread.has_turn = True
        try:
            yield
        finally:
            _thread.has_turn = False
