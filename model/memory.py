"""The memory of this computer: checks that a model fits in, and keeps a process from growing.

Counting a corpus runs batches of more and more different shapes. For each shape torch compiles
kernels of half a megabyte, and keeps 1,024 of them in each of two caches. Freed blocks between used
ones are not returned to the system by themselves.
"""

import ctypes
import os
import sys
from pathlib import Path

import torch

from headlight.model.library.hub import LoadingError

WORK = 1.2  # a model needs this many times the memory of its weights, for loading and for a text
# the kernels kept in a cache: more than a batch needs; later batches seldom reuse them
KERNELS = 64
KERNEL_COUNTS = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")


def check_memory(
    numbers: int, name: str, device: torch.device, dtype: torch.dtype = torch.float32
) -> None:
    """Raise LoadingError if a model with this many numbers needs more memory than is free."""
    needed, free = int(numbers * dtype.itemsize * WORK), free_memory(device)
    if free is not None and needed > free:
        raise LoadingError(
            f"{name} needs about {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are "
            "free. Choose a smaller model, or close other programs."
        )


def free_memory(device: torch.device) -> int | None:
    """Return the free bytes on a device; None if unknown."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    counts = [count for count in (free_of_system(), free_of_container()) if count is not None]
    return min(counts, default=None)


def free_of_system() -> int | None:
    """Return the bytes that programs can still get on Linux, or all memory on other systems."""
    try:
        for line in Path("/proc/meminfo").read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return memory_of_system()


def memory_of_system() -> int | None:
    """Return the bytes of memory that this computer has; None if unknown."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        return None


def free_of_container() -> int | None:
    """Return the bytes that this container may still take; None if it has no limit."""
    folder = Path("/sys/fs/cgroup")
    try:
        # Without a limit the text is "max", which raises ValueError.
        limit = int((folder / "memory.max").read_text("ascii"))
        taken = int((folder / "memory.current").read_text("ascii"))
        parts = dict(
            line.split() for line in (folder / "memory.stat").read_text("ascii").splitlines()
        )
        # File caches count as free memory, because the system drops them if needed.
        return limit - taken + int(parts["file"])
    except (OSError, ValueError, LookupError):
        return None


def keep_few_kernels() -> None:
    """Limit the kernels that torch keeps; this only works before the first run of a model."""
    for name in KERNEL_COUNTS:
        os.environ.setdefault(name, str(KERNELS))


def give_back() -> None:
    """Return freed memory to the system; on a system that cannot take it, do nothing."""
    if sys.platform == "linux" and hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)
