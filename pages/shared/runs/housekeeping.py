"""Return memory that visitors no longer need to the system, when no call has ended for a while."""

import ctypes
import gc
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from threading import Event, Thread
from time import sleep

from headlight.model.memory import give_back
from headlight.pages.shared.runs import limits

QUIET = 5.0  # memory is tidied 5 to 10 seconds after the last call of `released`
# Memory pools of glibc: one for each model call that runs at once (AT_ONCE in queue.py). By default
# glibc makes up to eight pools for every core, and each keeps the memory freed in its threads.
ARENAS = 2
# A run takes and frees blocks of many megabytes. Memory that glibc returns to the system at once
# has to be taken again page by page in the next run; so it is kept until tidy() returns it.
KEPT = 2**30  # bytes of freed memory that glibc may keep
LARGEST_BLOCK = 2**25  # bytes; larger blocks do not come from the pools
M_ARENA_MAX, M_MMAP_THRESHOLD, M_TRIM_THRESHOLD = -8, -3, -1  # constants of malloc.h

LEFT: list[Callable[[], None]] = []  # functions that free unused objects; `tidy` calls them
_released = Event()
_session_ended = Event()


def released() -> None:
    """Tell the helper thread that a large object was released, so that it tidies memory soon."""
    _released.set()
    _helper()


def session_ended() -> None:
    """Tell the helper thread that a session has ended, so that it frees the session's memory."""
    _session_ended.set()
    released()


def freeze() -> None:
    """Collect garbage, then exempt all objects that exist now from later collections."""
    if not limits.GUEST:
        gc.collect()
        gc.freeze()


def tidy() -> None:
    """Collect garbage, and return freed memory to the operating system if it supports that.

    Both are needed: reference cycles keep ended sessions in memory, and the allocator keeps freed
    memory that lies between blocks in use.
    """
    gc.collect()
    for let_go in LEFT:
        let_go()
    gc.collect()
    give_back()


def keep_freed_memory() -> None:
    """Let all threads share a few memory pools, which keep freed memory until `tidy` is called."""
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
        sleep(QUIET)  # one wait for many releases, because each waking up costs time
        if not _released.is_set():
            if _session_ended.is_set() and gc.get_freeze_count():
                _session_ended.clear()
                gc.unfreeze()  # an ended session may be among the exempted objects
                tidy()
                gc.freeze()
            else:
                tidy()
