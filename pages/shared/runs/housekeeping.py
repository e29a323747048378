"""Memory that visitors leave behind goes back to the system when nobody is working."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from threading import Event, Thread

QUIET = 5.0  # seconds without a release after which it is time
# One for each of the model calls that may run at once, see AT_ONCE in door.py. glibc makes up to
# eight for every core, each of which keeps what the sessions of its threads have freed.
ARENAS = 2
M_ARENA_MAX = -8  # of malloc.h

LEFT: list[Callable[[], None]] = []  # let go of what nobody uses, called when nobody is working
_released = Event()
_session_ended = Event()


def released() -> None:
    """Note that something large was let go."""
    _released.set()
    _helper()


def session_ended() -> None:
    """Note that a session has ended, of which nothing is to be left."""
    _session_ended.set()
    released()


def freeze() -> None:
    """Collect garbage, and spare what is loaded for good from later collections."""
    gc.collect()
    gc.freeze()


def tidy() -> None:
    """Collect garbage, and return freed memory to the system if it can be asked to take it.

    Sessions that ended hold on to themselves in circles, and the allocator keeps what was freed
    between what is still in use.
    """
    gc.collect()
    for let_go in LEFT:
        let_go()
    gc.collect()
    allocator("malloc_trim", 0)


def share_arenas() -> None:
    """Have all new threads share a few pools of memory, if the system has such pools."""
    allocator("mallopt", M_ARENA_MAX, ARENAS)


def allocator(function: str, *numbers: int) -> None:
    """Call a function of glibc's allocator; other systems have none and go without."""
    with suppress(AttributeError, OSError, TypeError):
        getattr(ctypes.CDLL(None), function)(*numbers)


@cache
def _helper() -> Thread:
    thread = Thread(target=_tidy_when_quiet, name="housekeeping", daemon=True)
    thread.start()
    return thread


def _tidy_when_quiet() -> None:
    while _released.wait():
        _released.clear()
        if not _released.wait(QUIET):
            if _session_ended.is_set() and gc.get_freeze_count():
                _session_ended.clear()
                gc.unfreeze()  # a session that was there when a model was loaded froze with it
                tidy()
                gc.freeze()
            else:
                tidy()
