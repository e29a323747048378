"""Write bench/results/README.md: with `--write`, each bench replaces its own section."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from html import escape
from math import log
from pathlib import Path

from bench.report import Case, machine, options_of, report

RESULTS = Path(__file__).resolve().parent / "results"
PAGE = RESULTS / "README.md"
BEGINNING = """# Results of the benches

Measured by the benches in `bench/`, which write this page themselves. Each figure is next to a
peer's, measured in turns with it; on other machines only the ratios are comparable.
"""
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
PANEL, MARGIN = (240, 200), 46  # pixels

Line = Sequence[tuple[float, float]]


def page_options() -> argparse.ArgumentParser:
    """Return the command-line options of a bench that can write its section of the results."""
    parser = options_of()
    parser.add_argument(
        "--write",
        action="store_true",
        help="also replace this bench's section of bench/results/README.md",
    )
    return parser


def publish(cases: Sequence[Case], options: argparse.Namespace, title: str, words: str) -> None:
    """Report cases; with `--write`, also write them and `words` to bench/results/README.md."""
    report(list(cases), options.json)
    if options.write:
        write_section(title, f"{words.strip()}\n\n{table(cases)}")


def meaning(docstring: str | None) -> str:
    """Return a bench's explanation: its docstring without the first line, which has the command."""
    return (docstring or "").partition("\n\n")[2]


def write_section(title: str, text: str, page: Path = PAGE) -> None:
    """Replace a page's section with this title, or append it; add the date and the machine."""
    written = page.read_text("utf-8") if page.exists() else BEGINNING
    part = f"## {title}\n\n{text.strip()}\n\n{machine()}\n"
    pattern = re.compile(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    if pattern.search(written):
        written = pattern.sub(lambda _: part + "\n", written)
    else:
        written = f"{written.rstrip()}\n\n{part}"
    page.write_text(written.rstrip() + "\n", "utf-8")


def table(cases: Sequence[Case]) -> str:
    """Return cases as a table in Markdown."""
    rows = [
        f"| {case.case} | {case.ours:.4g} | {case.peer:.4g} | {case.unit} | {case.ratio:.3g} | "
        f"{case.note} |"
        for case in cases
    ]
    return "\n".join(
        ["| case | ours | peer | unit | ratio | note |", "|---|--:|--:|---|--:|---|", *rows]
    )


def plot(panels: Mapping[str, Mapping[str, Line]], y: str) -> str:
    """Return lines on logarithmic axes as SVG, a panel for each name; all share the y axis."""
    names = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    points = [point for lines in panels.values() for line in lines.values() for point in line]
    lowest, highest = (end(value for _, value in points) for end in (min, max))
    width, height = len(panels) * (PANEL[0] + MARGIN) + MARGIN, PANEL[1] + 2 * MARGIN
    drawn = [
        text(MARGIN + 90 * index, 16, name, f'fill="{color}"')
        for index, (name, color) in enumerate(zip(names, COLORS, strict=False))
    ]
    for index, (title, lines) in enumerate(panels.items()):
        left, bottom = MARGIN + index * (PANEL[0] + MARGIN), MARGIN + PANEL[1]
        xs = sorted({x for line in lines.values() for x, _ in line})

        def across(value: float, left: float = left, xs: list[float] = xs) -> float:
            return left + PANEL[0] * share(value, xs[0], xs[-1])

        def up(value: float, bottom: float = bottom) -> float:
            return bottom - PANEL[1] * share(value, lowest, highest)

        drawn.append(
            f'<rect x="{left}" y="{MARGIN}" width="{PANEL[0]}" height="{PANEL[1]}" fill="none" '
            'stroke="#888"/>'
        )
        drawn.append(text(left, MARGIN - 8, f"{y} against {title}", 'font-weight="bold"'))
        drawn += [text(across(x) - 8, bottom + 16, f"{x:g}") for x in xs]
        drawn += [text(left - 34, up(end) + 4, f"{end:.3g}") for end in (lowest, highest)]
        for name, line in lines.items():
            color = COLORS[names.index(name)]
            path = " ".join(f"{across(x):.1f},{up(value):.1f}" for x, value in line)
            drawn.append(
                f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>'
            )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="{width}" height="{height}" fill="white"/>\n'
        + "\n".join(drawn)
        + "\n</svg>\n"
    )


def text(x: float, y: float, words: str, more: str = "") -> str:
    """Return an SVG element that shows words at a point."""
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(words)}</text>'


def share(value: float, lowest: float, highest: float) -> float:
    """Return where a value is between the lowest and the highest, on a log scale, from 0 to 1."""
    return log(value / lowest) / log(highest / lowest) if highest > lowest else 0.5
