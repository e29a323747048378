"""The queue in which model calls wait for their turn; calls that fit are computed in a batch."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock, local
from typing import Generic, NamedTuple, TypeVar

from headlight.pages.shared.runs import limits

AT_ONCE = limits.of_this_worker(2)  # how many calls compute at the same time, in all sessions
BATCH_CELLS = 2**16  # most texts times tokens² in a batch: 16 texts of 64 tokens take 300 MB
_thread = local()
Value = TypeVar("Value")


class Work(NamedTuple, Generic[Value]):
    """The work of a call: the result that `compute` yields for its `request`.

    `compute` takes a list of requests, so that the works of several calls with an equal `batch` can
    be computed together. A work whose `batch` is None is computed alone. `length` is the number of
    tokens of the request.
    """

    compute: Callable[[Sequence], Iterable[Value]]
    request: object
    batch: Hashable | None = None
    length: int = 0

    @classmethod
    def alone(cls, function: Callable[[], Value]) -> Work[Value]:
        """Return the work of a function without arguments, which never joins a batch."""
        return cls(lambda _: [function()], None)


@dataclass(eq=False)
class Call:
    """A model call that waits for its turn to compute, and then for its answer."""

    question: Hashable
    work: Work
    turn: Future[list[Call]] = field(default_factory=Future)  # the calls computed with this one
    answer: Future = field(default_factory=Future)


class Queue:
    """The waiting model calls, first come, first served; safe for use by several threads.

    At most `at_once` calls compute at the same time. Calls with the same question (the function and
    its arguments) share one answer. A call that has its turn also computes, in one batch, all calls
    in the queue that can join it and fit into memory; it does not wait for further ones. An error
    is raised only in calls that also raise it when computed alone. If a visitor leaves while their
    call is computing, another call takes over the work for the others.

    A question is forgotten once it is answered. So the only thing a visitor could learn is that
    somebody asks the same question at this moment, because the answer comes a little sooner; it
    also comes sooner if the server is less busy.
    """

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._waiting: list[Call] = []
        self._asked: dict[Hashable, Call] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._asked)

    def answer(self, question: Hashable, work: Work[Value]) -> Value:
        """Return the answer to a question, computed by this thread or by another.

        A call inside another call is computed at once, without waiting for a turn: the thread has
        one already, and waiting for a second could deadlock.
        """
        if has_turn():
            (value,) = work.compute([work.request])
            return value
        while True:
            with self._lock:
                is_first = question not in self._asked
                call = self._asked.setdefault(question, Call(question, work))
                if is_first:
                    self._waiting.append(call)
                    self._give_turns()
            if is_first and (batch := call.turn.result()):
                self._take_turn(batch)
            with suppress(CancelledError):
                return call.answer.result()

    def _give_turns(self) -> None:
        """Give each free turn to the first waiting call, and to the calls that can join it."""
        while self._free and self._waiting:
            first, *others = self._waiting
            batch, longest = [first], first.work.length
            for call in others:
                most = max(longest, call.work.length)
                alike = call.work.batch is not None and call.work.batch == first.work.batch
                if alike and (len(batch) + 1) * most**2 <= BATCH_CELLS:
                    batch.append(call)
                    longest = most
            self._waiting = [call for call in others if call not in batch]
            self._free -= 1
            for call in batch:
                call.turn.set_result(batch if call is first else [])

    def _take_turn(self, batch: list[Call]) -> None:
        _thread.has_turn = True
        try:
            compute(batch, batch[0].work.compute)
        finally:
            _thread.has_turn = False
            with self._lock:
                for call in batch:
                    del self._asked[call.question]
                    call.answer.cancel()  # does nothing if the call has its answer
                self._free += 1
                self._give_turns()


def has_turn() -> bool:
    """Return whether this thread is computing a call; a call that it makes now is a nested one."""
    return getattr(_thread, "has_turn", False)


def compute(batch: Sequence[Call], function: Callable[[Sequence], Iterable]) -> None:
    """Compute calls in a batch, or one by one if the batch fails; set their answers or errors."""
    try:
        requests = [call.work.request for call in batch]
        for call, value in zip(batch, function(requests), strict=True):
            call.answer.set_result(value)
    except Exception as error:
        for call in batch:
            if len(batch) > 1 and not call.answer.done():
                compute([call], function)
            elif not call.answer.done():
                call.answer.set_exception(error)
