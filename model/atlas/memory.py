"""Less memory for a long count: fewer kernels of torch are kept, and freed memory goes back.

The shape of batches changes all the time. For each shape torch compiles kernels of half a megabyte,
and keeps 1,024 of them in each of two caches. Freed blocks between used ones stay with the process.
"""

import ctypes
import os
import sys

KERNELS = 64  # more than one batch takes; others seldom have its shape
PLACES = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")


def keep_few_kernels() -> None:
    """Limit the kernels that this process keeps. It only works before the first run of a model."""
    for name in PLACES:
        os.environ.setdefault(name, str(KERNELS))


def give_back() -> None:
    """Return freed memory to the system, if its C library can."""
    if sys.platform == "linux" and hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)
