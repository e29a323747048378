"""Timing of two sides, and the tables and JSON files that all benches write."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from statistics import median

import torch


@dataclass(frozen=True)
class Case:
    """One measured comparison; `ratio` is ours / peer, and `note` is a remark on it."""

    case: str
    ours: float
    peer: float
    unit: str
    ratio: float
    note: str = ""


def compare_times(
    case: str, ours: Callable[[], object], peer: Callable[[], object], rounds: int = 20
) -> Case:
    """Return a case with the median times of two functions, in milliseconds.

    The functions are called in turns, so that both run on an equally busy machine.
    """
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds + 1):
        for call, taken in zip((ours, peer), times, strict=True):
            begin = time.perf_counter()
            call()
            taken.append(1000 * (time.perf_counter() - begin))
    # The first call of each function only warms up.
    ours_ms, peer_ms = (median(taken[1:]) for taken in times)
    return Case(case, ours_ms, peer_ms, "ms", ours_ms / peer_ms)


def json_option() -> Path | None:
    """Parse a bench's command line, and return the file to write JSON to, if any."""
    return options_of().parse_args().json


def options_of() -> argparse.ArgumentParser:
    """Return the options that all benches have; a bench may add its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the cases as JSON")
    return parser


def report(cases: list[Case], path: Path | None) -> None:
    """Print the cases as a table, and the machine; write the cases as JSON if `path` is given."""
    width = max(len(case.case) for case in cases)
    print(f"{'case':{width}}  {'ours':>10}  {'peer':>10}  {'unit':<8}  {'ratio':>8}")
    for case in cases:
        line = (
            f"{case.case:{width}}  {case.ours:10.2f}  {case.peer:10.2f}  {case.unit:<8}  "
            f"{case.ratio:8.4f}  {case.note}"
        )
        print(line.rstrip())
    print(machine())
    if path is not None:
        written = [asdict(case) for case in cases]
        for case in written:
            if not case["note"]:
                del case["note"]
        path.write_text(json.dumps(written, indent=2) + "\n", "utf-8")


def machine() -> str:
    """Return the date, the processor, its instruction set, versions and load in a sentence."""
    model = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists() and (
        named := re.search(r"^model name\s*:\s*(.+)$", information.read_text(), re.MULTILINE)
    ):
        model = named[1]
    busy = ""
    if hasattr(os, "getloadavg"):
        busy = f" At the end {os.getloadavg()[2]:.1f} processes wanted to run, over 15 minutes."
    return (
        f"{date.today()}: {model.strip()} ({torch.backends.cpu.get_cpu_capability()}), "
        f"{os.cpu_count()} cores, Python {platform.python_version()}, torch {version('torch')}, "
        f"Streamlit {version('streamlit')}.{busy}"
    )
