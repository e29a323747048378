"""What was asked for last, within bounds of memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")


def one(value: object) -> int:
    """The size of a value where values are counted."""
    return 1


class Recent(Generic[Value]):
    """The values that were put or asked for last, up to a total size; threads may share it.

    The newest stays, however large it is.
    """

    def __init__(self, limit: int, size: Callable[[Value], int] = one) -> None:
        self.limit = limit
        self.size = size
        self.values: OrderedDict[Hashable, Value] = OrderedDict()
        self.lock = Lock()

    def get(self, key: Hashable) -> Value | None:
        """The value of a key, or None where it was not put or gave way to others."""
        with self.lock:
            if key in self.values:
                self.values.move_to_end(key)
            return self.values.get(key)

    def put(self, key: Hashable, value: Value) -> None:
        """Keep a value, and drop those that were not asked for the longest."""
        with self.lock:
            self.values[key] = value
            self.values.move_to_end(key)
            while len(self.values) > 1 and sum(map(self.size, self.values.values())) > self.limit:
                self.values.popitem(last=False)
