"""A server under many visitors: its processes, their memory, and who takes the cores."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.browser import server, started

Share = tuple[float, float]  # seconds, and of how many


@dataclass(frozen=True)
class Served:
    """A server that was started: its address, its first process, and how many workers it has."""

    address: str
    process: int
    workers: int

    @property
    def memory(self) -> int:
        """The bytes of its processes that are in memory, read from Linux's /proc."""
        return sum(map(resident, family(self.process)))


@contextlib.contextmanager
def serving(workers: int, *options: str) -> Iterator[Served]:
    """Serve the app by one process alone, or by several as `make serve` does."""
    command = ("pages.server.serving", "--workers", str(workers), *options)
    with server("app.py", *options) if workers == 1 else started(*command) as (address, process):
        yield Served(address, process, workers)


def family(process: int) -> list[int]:
    """A process and all that it started, theirs included."""
    listed = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [process, *(one for child in listed for one in family(int(child)))]


def resident(process: int) -> int:
    """The bytes of one process that are in memory."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


class Clock:
    """What this process has used of the cores since it was made."""

    def __init__(self) -> None:
        self.wall, self.own = time.perf_counter(), time.process_time()

    def taken(self) -> Share:
        """The seconds that this process has computed, and those that all cores had."""
        wall = time.perf_counter() - self.wall
        return time.process_time() - self.own, wall * os.cpu_count()
