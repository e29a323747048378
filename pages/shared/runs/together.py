"""One answer for all who ask the same at the same time, as a class does that opens one link."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from threading import Lock


class Together:
    """The questions that are being computed; threads share it.

    Nothing is kept: a question is forgotten as its answer is there. So all that a visitor could
    learn of another is that somebody asks the very same within the tenths of a second that it
    takes, by getting the answer a little sooner, which they cannot tell from a server that is less
    busy.
    """

    def __init__(self) -> None:
        self._asked: dict[Hashable, Future] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._asked)

    def answer(self, question: Hashable, compute: Callable[[], object]) -> object:
        """Return what `compute` gives, for who asks first and all who ask until it is there.

        An error is raised for all of them. If the one who computes is stopped, since their visitor
        has turned away, another does.
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
