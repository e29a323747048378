"""A head as a heatmap: its cells can be read, zoomed into and clicked."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headlight.viz.arrays import check_sign, head_weights
from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.colors import DIVERGING, SEQUENTIAL
from headlight.viz.numbers import Numbers

PART = Part.next_to(__file__, "Heatmap")
FAINT = 0.01  # nats; smaller changes are rounding, and must not look like changes


class Behind(NamedTuple):
    """The largest number behind each cell of a map that combines several, and its origin."""

    largest: np.ndarray  # (Q, K)
    which: np.ndarray  # (Q, K) indices in `names`
    names: Sequence[str]  # such as "head 3"


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
    """Weights, scores or differences [query, key] with queries down and keys across.

    The colours run from 0 to `maximum`, or `diverging` from minus to plus it; None means the
    largest value. Without `key_tokens` the queries look at each other. `blocked` cells are crossed
    out instead of coloured. A `clickable` map answers with the query and the key of the cell that
    was clicked, counted from 0; if the weights combine several, it says which of those `behind`
    them a click opens. The `framed` cell, a query and a key, is marked until another one is read.
    Raises ValueError if the tokens do not fit the weights, and for weights below 0 unless it is
    `diverging`.
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
    """Cosine similarities [word, word] from -1 to 1."""
    return heatmap(
        similarities,
        {"word": words, "other word": words},
        name="cosine",
        diverging=True,
        axes="From −1, opposite, to 1, the same direction",
        verb="beside",
    )


def knockout_map(
    changes: np.ndarray,
    written: Sequence[str],
    words: Sequence[str],
    *,
    axes: str = "Written tokens down; across, the word that each may not look at",
    opens: str = "",
    framed: tuple[int, int] | None = None,
) -> CanvasPicture:
    """Changes of log-probabilities [written token, word], in nats, without the edge between them.

    Blue means a loss, and red a gain, up to the largest change, and at least `FAINT`; cells that
    are NaN are not known yet. If a click on a cell `opens` something, it answers with its row and
    column; the `framed` cell is marked until another one is read.
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
    """How much each written token took from each word [written token, word], by some reading.

    Colours run up to the largest number, to both sides of 0 if some are below.
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
    """What pairs of a part of the query and a part of the key add to a score [part, part].

    Red raises the score, and blue lowers it, up to the largest pair.
    """
    return heatmap(
        pairs,
        {"query part": query, "key part": key},
        name="nats",
        maximum=None,
        diverging=True,
        axes="Who wrote the query down, who wrote the key across",
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
    """Values [row, column] whose rows and columns have `tokens`, by the names of the axes.

    `axes` is written above the map; a cell is read as its row's token, the `verb`, its column's
    token. A cell that is NaN is `absent`; `opens` says what a click on a `clickable` cell opens.
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
