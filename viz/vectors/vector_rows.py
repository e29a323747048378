"""Draw vectors as rows of coloured cells whose shown numbers add up."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.colors import DIVERGING, SEQUENTIAL, limit_of
from headlight.viz.numbers import DECIMALS, Numbers, counted, number_text

PART = Part.next_to(__file__)


@dataclass(frozen=True)
class Row:
    """A vector. If there is a `total`, the numbers shown are rounded so that they sum to it.

    The colours of `probabilities` run from 0 to 1. Those of other numbers run from -limit to limit.
    The limit is their largest absolute number, or less if a few of many dimensions are far beyond
    the others.
    """

    label: str
    values: np.ndarray
    total: float | None = None
    note: str = ""
    probabilities: bool = False


def vector_rows(
    rows: Sequence[Row],
    *,
    columns: Sequence[str] | None = None,
    marked: Sequence[int] = (),
    own_scales: bool = False,
) -> CanvasPicture:
    """Draw rows of equal length below each other, on one colour scale or each on its own.

    `columns` names the cells, such as tokens; if None, the cells are dimensions, counted from 1. A
    legend says what the colours mean and at which numbers they end; with `own_scales` the rows'
    notes say where they end. Cells at the `marked` indices are framed.
    """
    stacked = np.stack([np.asarray(row.values, np.float64) for row in rows])
    signed = np.array([not row.probabilities for row in rows])
    shared = _limit(stacked[signed], columns)
    limits = [_limit(row, columns) if own_scales else shared for row in stacked]
    header = {
        "rows": [
            {
                "label": row.label,
                "note": _note(row, f"±{number_text(limit)}" if own_scales else ""),
                "probabilities": row.probabilities,
                "limit": limit,
                "texts": [
                    number_text(number)
                    for number in (
                        row.values
                        if row.total is None
                        else rounded_parts(row.values, row.total, DECIMALS)
                    )
                ],
            }
            for row, (limit, _) in zip(rows, limits, strict=True)
        ],
        "own_scales": own_scales,
        "clipped": any(clipped for _, clipped in limits),
        "columns": None if columns is None else list(columns),
        "marked": [int(index) for index in marked],
        "diverging": DIVERGING,
        "sequential": SEQUENTIAL,
    }
    array = np.nan_to_num(stacked, nan=np.nan, neginf=np.nan).astype(np.float32)
    height = 40 + 30 * len(rows) + (60 if columns is not None else 0)
    axis = {"dimension": counted(stacked.shape[1])} if columns is None else {"key": list(columns)}
    rows_of = {"vector": [row.label for row in rows]}
    numbers = {"value": Numbers(stacked.astype(np.float32), rows_of | axis)}
    return CanvasPicture.pack(PART, header, array, height=height, numbers=numbers)


def rounded_parts(values: np.ndarray, total: float, decimals: int) -> np.ndarray:
    """Round numbers so that they sum to the rounded total exactly, each off by one step at most.

    A step is a unit of the last decimal. Where the sum of the rounded numbers is some steps too
    low, the numbers that rounding lowered most are raised by a step; likewise if it is too high.
    """
    scaled = np.asarray(values, np.float64) * 10**decimals
    steps = np.rint(scaled)
    missing = int(np.rint(total * 10**decimals) - steps.sum())
    worst = np.argsort(np.sign(missing) * (steps - scaled), kind="stable")[: abs(missing)]
    steps[worst] += np.sign(missing)
    return steps / 10**decimals


def _limit(values: np.ndarray, columns: Sequence[str] | None) -> tuple[float, bool]:
    """Return the number at which colours end, and whether numbers exceed it: not in named cells."""
    largest = float(np.abs(values[np.isfinite(values)]).max(initial=0)) or 1.0
    return limit_of(values) if columns is None else (largest, False)


def _note(row: Row, scale: str) -> str:
    total = "" if row.total is None else f"sum {number_text(row.total)}"
    return ", ".join(filter(None, [total, row.note, "" if row.probabilities else scale]))
