"""Memory that visitors leave behind goes back to the system when nobody is working."""

import ctypes
import gc
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from threading import Event, Thread
from time import sleep

from headlight.model.memory import give_back
from headlight.pages.shared.runs import limits

QUIET = 5.0  # seconds without a release until memory is tidied; it may take twice as long
# One for each of the model calls that may run at once, see AT_ONCE in line.py. By default glibc
# makes up to eight for every core, each of which keeps the memory freed in its threads.
ARENAS = 2
# A run takes and frees blocks of many megabytes. What glibc hands back to the system right away
# has to be taken again page by page at the next run; tidy() hands it back once nobody works.
KEPT = 2**30  # bytes
LARGEST_BLOCK = 2**25  # bytes that glibc may keep, at most
M_ARENA_MAX, M_MMAP_THRESHOLD, M_TRIM_THRESHOLD = -8, -3, -1  # from malloc.h

LEFT: list[Callable[[], None]] = []  # functions that free what nobody uses, when all is quiet
_released = Event()
_session_ended = Event()


def released() -> None:
    """Note that something large was released."""
    _released.set()
    _helper()


def session_ended() -> None:
    """Note that a session has ended, so that its memory is freed."""
    _session_ended.set()
    released()


def freeze() -> None:
    """Collect garbage, and exempt everything loaded so far from later collections."""
    if not limits.GUEST:
        gc.collect()
        gc.freeze()


def tidy() -> None:
    """Collect garbage, and return freed memory to the system if it can take it.

    Sessions that ended hold on to themselves in reference cycles, and the allocator keeps freed
    memory between blocks in use.
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
        sleep(QUIET)  # and not until the next release: a busy server would wake this each time
        if not _released.is_set():
            if _session_ended.is_set() and gc.get_freeze_count():
                _session_ended.clear()
                gc.unfreeze()  # a session that was there when a model was loaded is frozen too
                tidy()
                gc.freeze()
            else:
                tidy()
