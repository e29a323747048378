"""The results of model calls for one visitor, within bounds of memory."""

import sys
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from functools import partial
from itertools import count
from threading import Lock
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from cachetools import LRUCache
from torch import Tensor, nn

from model.tokenizer import Tokenizer


class Result(NamedTuple):
    """The result of a call, and its size in bytes."""

    value: object
    size: int


class Results:
    """The most recently used results of a session; threads may share it.

    They are bounded by their total bytes, and by their number for each kind of call. A result
    larger than all bytes allowed is not kept.
    """

    def __init__(self, most_bytes: int, most_of_a_kind: int) -> None:
        self._results: LRUCache[tuple[str, Hashable], Result] = LRUCache(
            most_bytes, lambda result: result.size
        )
        # The keys of each kind; their results may have made room for other kinds.
        self._keys: dict[str, LRUCache[Hashable, None]] = defaultdict(
            partial(LRUCache, most_of_a_kind)
        )
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._results)

    @property
    def size(self) -> int:
        """The bytes that the results take."""
        return int(self._results.currsize)

    def get(self, kind: str, key: Hashable) -> Result | None:
        """Return a kept result, or None if it was never kept or has made room for others."""
        with self._lock:
            self._keys[kind].get(key)  # counts as a use
            return self._results.get((kind, key))

    def put(self, kind: str, key: Hashable, result: Result) -> None:
        """Keep a result; those not used for the longest time make room."""
        with self._lock:
            keys = self._keys[kind]
            if key not in keys and len(keys) == keys.maxsize:
                oldest, _ = keys.popitem()
                self._results.pop((kind, oldest), None)
            with suppress(ValueError):  # the result is larger than all that may be kept
                self._results[kind, key] = result
                keys[key] = None

    def drop_oldest(self) -> int:
        """Drop the result that was not used for the longest time; return the bytes freed."""
        with self._lock:
            return self._results.popitem()[1].size if len(self) else 0

    def clear(self) -> None:
        with self._lock:
            self._results.clear()
            self._keys.clear()


class Budget:
    """The bytes that the results of all sessions may take together.

    Sessions that have kept nothing new for the longest time make room first.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._turns = count()
        self._last_turn: WeakKeyDictionary[Results, int] = WeakKeyDictionary()
        self._lock = Lock()

    def keep_to(self, newest: Results) -> None:
        """Make room after a session has kept something new."""
        with self._lock:
            self._last_turn[newest] = next(self._turns)
            sessions = sorted(self._last_turn, key=self._last_turn.get)
            excess = sum(results.size for results in sessions) - self.most_bytes
            for results in sessions:
                while excess > 0 and (freed := results.drop_oldest()):
                    excess -= freed


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
