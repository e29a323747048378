"""The queue in which calls of models wait for their turn, and in which they gather to a batch."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock, local
from typing import Generic, NamedTuple, TypeVar

from headlight.pages.shared.runs import limits

AT_ONCE = limits.of_this_worker(2)  # turns, in all sessions together
BATCH_CELLS = 2**16  # 16 texts of 64 tokens, whose decoding takes at most 300 MB
_thread = local()
Value = TypeVar("Value")


class Work(NamedTuple, Generic[Value]):
    """What a call computes: `compute` takes a list of requests, and yields the result of each.

    Works with the same `batch` can be computed together; None is computed alone. `length` is the
    number of a request's tokens.
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
    """A call that waits for its turn, and then for its answer."""

    question: Hashable
    work: Work
    turn: Future[list[Call]] = field(default_factory=Future)  # the calls that it is to compute
    answer: Future = field(default_factory=Future)


class Queue:
    """The calls of models, first come, first served; few compute at once, and threads share it.

    Calls that ask the same question get one answer. The call whose turn it is also computes, in one
    batch, all matching calls in the queue that fit into memory; it does not wait for more to come.
    An error goes only to calls whose question also raises it when computed alone. If a computing
    call is stopped because its visitor has left, another call takes over.

    A question is forgotten once it is answered. So a visitor could only learn that somebody asks
    the same question in the same tenths of a second, by an answer that comes a little sooner, which
    looks the same as a less busy server.
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

        A call within a call has a turn already, and joins no other: the other may wait for it.
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
        """Let the first in the queue compute, each with the calls that can join its batch."""
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
                    call.answer.cancel()  # only if it has none
                self._free += 1
                self._give_turns()


def has_turn() -> bool:
    """Return whether this thread computes, so that its calls are within a call."""
    return getattr(_thread, "has_turn", False)


def compute(batch: Sequence[Call], function: Callable[[Sequence], Iterable]) -> None:
    """Compute calls together, or one by one if that fails; each gets its own answer or error."""
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
