"""Draw a matrix, such as a head's weights, as a heatmap to point at, to zoom and to click."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headlight.viz.arrays import check_sign, head_weights
from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.colors import DIVERGING, SEQUENTIAL
from headlight.viz.numbers import Numbers

PART = Part.next_to(__file__, "Heatmap")
FAINT = 0.01  # nats: the colours of changes never end below this, so that rounding looks like 0


class Behind(NamedTuple):
    """For a map that combines several maps: each cell's largest number, and the map that has it."""

    largest: np.ndarray  # (Q, K)
    which: np.ndarray  # (Q, K) the index of that map in `names`
    names: Sequence[str]  # the names of the maps, such as "head 3"


def attention_heatmap(
    weights: np.ndarray,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    name: str = "weight",
    maximum: float | None = 1.0,
    diverging: bool = False,
    blocked: np.ndarray | None = None,
    clickable: bool = False,
    behind: Behind | None = None,
    framed: tuple[int, int] | None = None,
) -> CanvasPicture:
    """Draw weights, scores or differences [query, key], a row for each query.

    The colours run from 0 to `maximum`, or from -`maximum` to `maximum` if `diverging`; None means
    the largest value. Without `key_tokens` the queries look at each other. `blocked` cells are
    crossed out instead of coloured. A click on a `clickable` map sends the cell's query and key,
    from 0. If the weights combine several heads, `behind` says which head a click opens. The
    `framed` cell, a query and a key, is marked until another cell is pointed at. Raises ValueError
    if the tokens do not fit the weights, and for weights below 0 unless `diverging`.
    """
    weights = head_weights(weights, signed=True)
    key_tokens = query_tokens if key_tokens is None else key_tokens
    return heatmap(
        weights,
        {"query": query_tokens, "key": key_tokens},
        name=name,
        maximum=maximum,
        diverging=diverging,
        blocked=blocked,
        clickable=clickable,
        behind=behind,
        framed=framed,
        axes="Queries (looking) down, keys (looked at) across",
        verb="looks at",
    )


def word_heatmap(similarities: np.ndarray, words: Sequence[str]) -> CanvasPicture:
    """Draw cosine similarities [word, word] from -1 to 1."""
    return heatmap(
        similarities,
        {"word": words, "other word": words},
        name="cosine",
        diverging=True,
        axes="From −1 (opposite directions) to 1 (the same direction)",
        verb="beside",
    )


def knockout_map(
    changes: np.ndarray,
    written: Sequence[str],
    words: Sequence[str],
    *,
    axes: str = "Down: the written token. Across: the word that it may not look at",
    opens: str = "",
    framed: tuple[int, int] | None = None,
) -> CanvasPicture:
    """Draw how written tokens' log-probabilities change in nats without each word: [token, word].

    Blue means a loss and red a gain; the colours end at the largest change, and at least at
    `FAINT`. NaN means not measured yet. If `opens` says what a click opens, a click sends a cell's
    row and column. The `framed` cell is marked until another cell is pointed at.
    """
    return heatmap(
        changes,
        {"written": written, "word": words},
        name="change in nats",
        maximum=max(FAINT, float(np.nanmax(np.abs(changes), initial=0))),
        diverging=True,
        axes=axes,
        verb="without",
        absent="not measured yet",
        clickable=bool(opens),
        opens=opens,
        framed=framed,
    )


def reading_map(
    values: np.ndarray, written: Sequence[str], words: Sequence[str], *, name: str
) -> CanvasPicture:
    """Draw how much each written token took from each word: [written token, word].

    `name` says how this was measured. The colours end at the largest number; they begin at 0, or at
    minus this number if some numbers are below 0.
    """
    return heatmap(
        values,
        {"written": written, "word": words},
        name=name,
        maximum=None,
        diverging=bool((values < 0).any()),
        axes="Written tokens down, the words they could look at across",
        verb="from",
    )


def parts_map(pairs: np.ndarray, query: Sequence[str], key: Sequence[str]) -> CanvasPicture:
    """Draw what each pair of a query's part and a key's part adds to a score: [part, part].

    A red pair raises the score, a blue one lowers it; the colours end at the largest pair.
    """
    return heatmap(
        pairs,
        {"query part": query, "key part": key},
        name="nats",
        maximum=None,
        diverging=True,
        axes="Parts of the query down, parts of the key across",
        verb="with",
    )


def heatmap(
    values: np.ndarray,
    tokens: dict[str, Sequence[str]],
    *,
    name: str,
    axes: str,
    verb: str,
    maximum: float | None = 1.0,
    diverging: bool = False,
    blocked: np.ndarray | None = None,
    clickable: bool = False,
    behind: Behind | None = None,
    framed: tuple[int, int] | None = None,
    absent: str = "blocked",
    opens: str = "take its weight apart",
) -> CanvasPicture:
    """Draw values [row, column]; `tokens` holds the tokens of the rows and of the columns by name.

    `axes` is written above the map. A cell is described by its row's token, the `verb` and its
    column's token, as in "cat" looks at "the". `absent` is the word for NaN; `opens` says what a
    click on a `clickable` cell does.
    """
    rows, columns = tokens.values()
    shown = np.asarray(values, dtype="<f4")
    if blocked is not None:
        shown = np.where(blocked, np.float32(np.nan), shown)
    if not diverging:
        check_sign(np.nanmin(shown, initial=0))
    if maximum is None:
        maximum = float(np.nanmax(np.abs(shown), initial=0))
    header = {
        "rows": list(rows),
        "columns": list(columns),
        "name": name,
        "axes": axes,
        "verb": verb,
        "limit": max(maximum, 1e-6),  # positive even if all values are 0
        "diverging": diverging,
        "clickable": clickable,
        "opens": opens,
        "absent": absent,
        "behind": list(behind.names) if behind else None,
        "framed": framed,
        "colors": DIVERGING if diverging else SEQUENTIAL,
    }
    parts = [shown] if behind is None else [shown, behind.largest, behind.which]
    array = np.stack(parts).astype("<f4")
    return CanvasPicture.pack(
        PART, header, array, height=560, numbers={name: Numbers(values, tokens)}
    )
