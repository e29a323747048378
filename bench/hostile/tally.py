"""The results of many hostile inputs of one kind."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

MB = 1e6


@dataclass
class Tally:
    """The number of tried inputs of a kind, the failures with their reasons, and the cost."""

    kind: str
    inputs: int = 0
    failures: list[str] = field(default_factory=list)
    slowest: float = 0.0  # seconds
    grown: float = 0.0  # bytes

    def note(self, seconds: float, failure: object = None) -> None:
        """Count one input, the seconds it took, and its failure, if any."""
        self.inputs += 1
        self.slowest = max(self.slowest, seconds)
        if failure is not None:
            self.failures.append(f"{type(failure).__name__}: {failure}"[:300])


def try_all(
    kind: str, inputs: Iterable[bytes], read: Callable[[bytes], object], memory: Callable[[], int]
) -> Tally:
    """Read the inputs one by one: ValueError is a refusal, every other exception a failure."""
    tally, before = Tally(kind), memory()
    for data in inputs:
        begin, failure = time.perf_counter(), None
        try:
            read(data)
        except ValueError:
            pass
        except Exception as error:
            failure = error
        tally.note(time.perf_counter() - begin, failure)
    tally.grown = memory() - before
    return tally


def table(tallies: Iterable[Tally]) -> str:
    """Return all tallies as a Markdown table, and the failures below it."""
    lines = [
        "| kind | inputs | failures | slowest, s | memory grown, MB |",
        "|---|--:|--:|--:|--:|",
    ]
    failures = []
    for tally in tallies:
        lines.append(
            f"| {tally.kind} | {tally.inputs} | {len(tally.failures)} | {tally.slowest:.2f} "
            f"| {tally.grown / MB:.0f} |"
        )
        failures += [f"- {tally.kind}: {failure!r}" for failure in tally.failures]
    return "\n".join([*lines, *([""] if failures else []), *failures])
