"""Those who wait for something that only one of them can have at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition

LOOK = 0.1  # seconds between two looks whether one who waits is still there


class GoneError(Exception):
    """One who waited in a line is no longer there."""


class Line:
    """A line in which each has a turn alone, first come, first served; threads share it."""

    def __init__(self) -> None:
        self._those: list[object] = []  # the first has its turn
        self._changed = Condition()

    @contextmanager
    def turn(self, one: object, is_gone: Callable[[], bool]) -> Iterator[None]:
        """Wait until it is the turn of `one`, which ends with the block; raises GoneError."""
        with self._changed:
            self._those.append(one)
        try:
            with self._changed:
                while self._those[0] is not one and not is_gone():
                    self._changed.wait(LOOK)
            if is_gone():
                raise GoneError
            yield
        finally:
            with self._changed:
                self._those.remove(one)
                self._changed.notify_all()

    def before(self, one: object) -> int:
        """Return how many are before `one`, the one who has its turn included."""
        with self._changed:
            return self._those.index(one) if one in self._those else 0
