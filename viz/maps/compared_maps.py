"""Draw two heads side by side, and the differences between their weights."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headlight.viz.arrays import head_weights
from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.colors import DIVERGING, SEQUENTIAL
from headlight.viz.numbers import DECIMALS, Numbers
from headlight.viz.tokens import Pair, aligned

PART = Part.next_to(__file__, "Two heads side by side")

Axes = tuple[Sequence[str], Sequence[str]]  # the tokens of the queries and of the keys


class Change(NamedTuple):
    """A cell that both maps have: its tokens, its two weights, and the second minus the first.

    Each number is rounded to `DECIMALS` separately. The `place` is the cell's row and column in
    the map of differences.
    """

    query: str
    key: str
    first: float
    second: float
    difference: float
    place: tuple[int, int]


def compared_maps(
    first: np.ndarray,
    second: np.ndarray,
    first_tokens: Axes,
    second_tokens: Axes,
    *,
    titles: tuple[str, str] = ("A", "B"),
) -> CanvasPicture:
    """Draw two maps of weights [query, key], each with its tokens, and the second minus the first.

    The map of differences has the tokens of both maps, aligned: equal tokens in the same order are
    the same row or column. A cell that only one map has shows no difference. Pointing at a cell
    also marks it in the other maps. Raises ValueError if sizes do not fit, or for weights below 0.
    """
    first, second = head_weights(first), head_weights(second)
    sides = zip("AB", (first, second), (first_tokens, second_tokens), strict=True)
    numbers = {
        name: Numbers(weights, {f"query of {name}": queries, f"key of {name}": keys})
        for name, weights, (queries, keys) in sides
    }
    rows, columns = axes_of(first_tokens, second_tokens)
    change = clearest_change(largest_changes(first, second, first_tokens, second_tokens))
    axes = zip((rows, columns), first_tokens, second_tokens, strict=True)
    both = [[name_of(pair, *tokens) for pair in pairs] for pairs, *tokens in axes]
    tokens = first_tokens, second_tokens, both
    header = {
        "titles": list(titles),
        "tokens": [list(map(list, axes)) for axes in tokens],
        "rows": rows,
        "columns": columns,
        "clearest": change.place if change else None,
        "colors": SEQUENTIAL,
        "differences": DIVERGING,
    }
    maps = (first, second, differences(first, second, rows, columns))
    array = np.concatenate([np.ravel(each) for each in maps]).astype("<f4")
    numbers["B less A"] = Numbers(maps[-1], dict(zip(("query", "key"), both, strict=True)))
    return CanvasPicture.pack(PART, header, array, height=520, numbers=numbers)


def name_of(pair: Pair, first: Sequence[str], second: Sequence[str]) -> str:
    """Return the label of a pair of indices, such as "cat", "the → cat / the → dog" or "cat (A)".

    A token that only one map has is followed by the map's name.
    """
    left = None if pair[0] is None else first[pair[0]]
    right = None if pair[1] is None else second[pair[1]]
    if left is None or right is None:
        return f"{right} (B)" if left is None else f"{left} (A)"
    return left if left == right else f"{left} / {right}"


def largest_changes(
    first: np.ndarray,
    second: np.ndarray,
    first_tokens: Axes,
    second_tokens: Axes,
    *,
    most: int = 8,
) -> list[Change]:
    """Return the cells that differ most between two maps, the largest difference first.

    Cells whose difference rounds to 0 are left out.
    """
    first, second = (head_weights(each).astype(np.float64) for each in (first, second))
    rows, columns = axes_of(first_tokens, second_tokens)
    changes = differences(first, second, rows, columns)
    sizes = np.nan_to_num(np.abs(changes))
    changed = []
    for cell in np.argsort(-sizes, axis=None, kind="stable")[:most]:
        row, column = np.unravel_index(cell, sizes.shape)
        change = float(changes[row, column])
        if round(abs(change), DECIMALS) > 0:
            (query, other_query), (key, other_key) = rows[row], columns[column]
            row_tokens, column_tokens = zip(first_tokens, second_tokens, strict=True)
            changed.append(
                Change(
                    name_of(rows[row], *row_tokens),
                    name_of(columns[column], *column_tokens),
                    round(float(first[query, key]), DECIMALS),
                    round(float(second[other_query, other_key]), DECIMALS),
                    round(change, DECIMALS),
                    (int(row), int(column)),
                )
            )
    return changed


def clearest_change(changes: Sequence[Change]) -> Change | None:
    """Return the first change whose query and key differ, else the first change, else None."""
    between = (change for change in changes if change.query != change.key)
    return next(between, next(iter(changes), None))


def differences(
    first: np.ndarray, second: np.ndarray, rows: Sequence[Pair], columns: Sequence[Pair]
) -> np.ndarray:
    """Return the second map minus the first: (rows, columns), NaN if one of them lacks the cell.

    Rows and columns are pairs of indices in the two maps [query, key].
    """
    parts = []
    for number, weights in enumerate((first, second)):
        padded = np.pad(weights.astype(np.float64), (0, 1), constant_values=np.nan)  # for -1
        queries = [-1 if (index := pair[number]) is None else index for pair in rows]
        keys = [-1 if (index := pair[number]) is None else index for pair in columns]
        parts.append(padded[np.ix_(queries, keys)])
    return parts[1] - parts[0]


def axes_of(first_tokens: Axes, second_tokens: Axes) -> tuple[list[Pair], list[Pair]]:
    """Return the aligned queries of both maps, and their aligned keys."""
    rows, columns = (aligned(*tokens) for tokens in zip(first_tokens, second_tokens, strict=True))
    return rows, columns
