"""Give memory that visitors no longer need back to the system, once nobody is working."""

import ctypes
import gc
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from threading import Event, Thread
from time import sleep

from headlight.model.memory import give_back
from headlight.pages.shared.runs import limits

QUIET = 5.0  # seconds without a call of `released` until memory is tidied; at most twice as many
# Memory pools of glibc: one for each model call that runs at once (AT_ONCE in queue.py). By default
# glibc makes up to eight pools for every core, and each keeps the memory freed in its threads.
ARENAS = 2
# A run takes and frees blocks of many megabytes. Memory that glibc returns to the system at once
# has to be taken again page by page in the next run; so it is kept until tidy() returns it.
KEPT = 2**30  # bytes of freed memory that glibc may keep
LARGEST_BLOCK = 2**25  # bytes; only smaller blocks come from these pools
M_ARENA_MAX, M_MMAP_THRESHOLD, M_TRIM_THRESHOLD = -8, -3, -1  # from malloc.h

LEFT: list[Callable[[], None]] = []  # functions that free unused objects; `tidy` calls them
_released = Event()
_session_ended = Event()


def released() -> None:
    """Note that a large object was released, so that memory is tidied soon."""
    _released.set()
    _helper()


def session_ended() -> None:
    """Note that a session has ended, so that its memory is freed."""
    _session_ended.set()
    released()


def freeze() -> None:
    """Collect garbage, and exempt all present objects from later collections."""
    if not limits.GUEST:
        gc.collect()
        gc.freeze()


def tidy() -> None:
    """Collect garbage, and return freed memory to the system where it supports that.

    Ended sessions keep themselves alive by reference cycles, and the allocator keeps freed memory
    that lies between blocks in use.
    """
    gc.collect()
    for let_go in LEFT:
        let_go()
    gc.collect()
    give_back()


def keep_freed_memory() -> None:
    """Let all threads share a few memory pools, which keep freed memory until all is quiet."""
    with suppress(AttributeError, OSError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(M_ARENA_MAX, ARENAS)
        library.mallopt(M_TRIM_THRESHOLD, KEPT)
        library.mallopt(M_MMAP_THRESHOLD, LARGEST_BLOCK)


@cache
def _helper() -> Thread:
    thread = Thread(target=_tidy_when_quiet, name="housekeeping", daemon=True)
    thread.start()
    return thread


def _tidy_when_quiet() -> None:
    while _released.wait():
        _released.clear()
        sleep(QUIET)  # one wait for many releases: waking at each would cost a busy server time
        if not _released.is_set():
            if _session_ended.is_set() and gc.get_freeze_count():
                _session_ended.clear()
                gc.unfreeze()  # sessions that existed when a model was loaded are frozen too
                tidy()
                gc.freeze()
            else:
                tidy()
