"""Timing side by side, and the tables and JSON that all benches write."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True)
class Case:
    """One measured comparison; ours / peer is the ratio."""

    case: str
    ours: float
    peer: float
    unit: str
    ratio: float


def compare_times(
    case: str, ours: Callable[[], object], peer: Callable[[], object], rounds: int = 20
) -> Case:
    """The median times of two functions, in milliseconds, taken in turns so that both see the
    same machine.
    """
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds + 1):
        for call, taken in zip((ours, peer), times, strict=True):
            begin = time.perf_counter()
            call()
            taken.append(1000 * (time.perf_counter() - begin))
    # The first call of each warms up.
    ours_ms, peer_ms = (median(taken[1:]) for taken in times)
    return Case(case, ours_ms, peer_ms, "ms", ours_ms / peer_ms)


def json_option() -> Path | None:
    """Read the command line of a bench: where to write JSON, if anywhere."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the cases as JSON")
    return parser.parse_args().json


def report(cases: list[Case], path: Path | None) -> None:
    """Print the cases as a table, and write them as JSON where there is a path."""
    width = max(len(case.case) for case in cases)
    print(f"{'case':{width}}  {'ours':>10}  {'peer':>10}  {'unit':<8}  {'ratio':>7}")
    for case in cases:
        print(
            f"{case.case:{width}}  {case.ours:10.2f}  {case.peer:10.2f}  {case.unit:<8}  "
            f"{case.ratio:7.2f}"
        )
    if path is not None:
        path.write_text(json.dumps([asdict(case) for case in cases], indent=2) + "\n", "utf-8")
