"""Start a server for many visitors, and read its memory and the CPU time it uses."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bench.browser import server, started


class Work(NamedTuple):
    """CPU seconds: used by the visitors, used by the server, and available on all cores."""

    visitors: float
    server: float
    cores: float


@dataclass(frozen=True)
class Served:
    """A running server: its address, the id of its first process, and its number of workers."""

    address: str
    process: int
    workers: int

    @property
    def memory(self) -> int:
        """The resident bytes of all processes of the server, read from Linux's /proc."""
        return sum(map(resident, family(self.process)))

    @property
    def computed(self) -> float:
        """The CPU seconds that all processes of the server have used."""
        return sum(map(used, family(self.process)))


@contextlib.contextmanager
def serving(workers: int, *options: str) -> Iterator[Served]:
    """Serve the app with one process, or with several as `make serve` does."""
    command = ("headlight", "--workers", str(workers), *options)
    with server("app.py", *options) if workers == 1 else started(*command) as (address, process):
        yield Served(address, process, workers)


def family(process: int) -> list[int]:
    """Return a process id and those of all its descendants."""
    listed = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [process, *(member for child in listed for member in family(int(child)))]


def resident(process: int) -> int:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def used(process: int) -> float:
    """Return the CPU seconds that one process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Clock:
    """Measures the CPU time that a server and this process use from now on."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.begun = self.now()

    def now(self) -> tuple[float, float, float]:
        """Return the CPU seconds of this process, of the server, and of all cores together."""
        return (
            time.process_time(),
            self.served.computed,
            time.perf_counter() * (os.cpu_count() or 1),
        )

    def taken(self) -> Work:
        """Return the CPU seconds since this clock was made."""
        return Work(*(now - then for now, then in zip(self.now(), self.begun, strict=True)))
