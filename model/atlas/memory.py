"""What keeps a long count from growing: few kernels of torch are kept, and freed memory goes back.

Batches have ever other shapes. For each shape torch compiles kernels, half a megabyte, and keeps
1,024 in either of two places; and blocks that were freed lie between others, kept for later ones.
"""

from __future__ import annotations

import ctypes
import os
import sys

KERNELS = 64  # more than one batch takes; others seldom have its shape
PLACES = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")


def keep_few_kernels() -> None:
    """Limit the kernels that this process keeps; before the first run of a model, or in vain."""
    for name in PLACES:
        os.environ.setdefault(name, str(KERNELS))


def give_back() -> None:
    """Give freed memory back to the system, where its C library can do so."""
    if sys.platform == "linux" and hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)
