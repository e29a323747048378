"""The memory of this computer: whether a model fits in, and returning freed memory.

A long count changes the shape of its batches all the time. For each shape torch compiles kernels of
half a megabyte, and keeps 1,024 of them in each of two caches. Freed blocks between used ones stay
with the process.
"""

import ctypes
import os
import sys
from pathlib import Path

import torch

from headlight.model.library.hub import LoadingError

WORK = 1.2  # for the memory of a text, and of the library while it loads
KERNELS = 64  # more than one batch needs; other batches seldom have its shape
KERNEL_COUNTS = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")


def check_memory(
    numbers: int, name: str, device: torch.device, dtype: torch.dtype = torch.float32
) -> None:
    """Raise LoadingError if that many weights of a dtype need more memory than is free."""
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
    """Return the memory that programs can still get on Linux, or all memory elsewhere."""
    try:
        for line in Path("/proc/meminfo").read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return memory_of_system()


def memory_of_system() -> int | None:
    """Return all memory of this computer; None if unknown."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows has no such call
        return None


def free_of_container() -> int | None:
    """Return the memory that this container may still take, if it has a limit."""
    folder = Path("/sys/fs/cgroup")
    try:
        limit = int((folder / "memory.max").read_text("ascii"))  # "max" means none
        taken = int((folder / "memory.current").read_text("ascii"))
        parts = dict(
            line.split() for line in (folder / "memory.stat").read_text("ascii").splitlines()
        )
        return limit - taken + int(parts["file"])  # file caches are dropped if needed
    except (OSError, ValueError, LookupError):
        return None


def keep_few_kernels() -> None:
    """Limit the kernels that this process keeps. It only works before the first run of a model."""
    for name in KERNEL_COUNTS:
        os.environ.setdefault(name, str(KERNELS))


def give_back() -> None:
    """Return freed memory to the system, if its C library can."""
    if sys.platform == "linux" and hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)
