"""One head as a heatmap that people can zoom, read and save."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.arrays import head_weights
from viz.colors import DIVERGING, SEQUENTIAL
from viz.tokens import check_sizes, plotly_labels

MOST_LABELS = 64  # beyond, cells touch each other and tokens are read by pointing alone


def attention_heatmap(
    weights: np.ndarray,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    name: str = "weight",
    maximum: float | None = 1.0,
    diverging: bool = False,
    blocked: np.ndarray | None = None,
    height: int | None = None,
    clickable: bool = False,
) -> go.Figure:
    """Weights, scores or differences [query, key] with queries down and keys across.

    The colours run from 0 to `maximum`, or `diverging` from minus to plus it; None stands for the
    largest value there is. Without `key_tokens` the queries look at each other. `blocked` cells
    are crossed out instead of coloured; `height` is in pixels. A `clickable` map has a point in
    every cell, so that a click finds it. Beyond 64 tokens on an axis cells touch, have neither
    points nor crosses, and their tokens are read by pointing. Raises ValueError where the tokens
    do not fit the weights.
    """
    weights = head_weights(weights)
    key_tokens = query_tokens if key_tokens is None else key_tokens
    check_sizes(weights, query_tokens, key_tokens)
    values = np.asarray(weights, dtype=np.float32)
    if blocked is not None:
        values = np.where(blocked, np.nan, values)
    if maximum is None:
        maximum = float(np.nanmax(np.abs(values), initial=1e-6))
    traces = [
        {
            "type": "heatmap",
            "z": values,
            "colorscale": DIVERGING if diverging else SEQUENTIAL,
            "zmin": -maximum if diverging else 0,
            "zmax": maximum,
            "colorbar": {"title": {"text": name}, "thickness": 12, "outlinewidth": 0},
            "hovertemplate": f"query %{{y}}<br>key %{{x}}<br>{name} %{{z:.4f}}<extra></extra>",
            "hoverongaps": False,
            **gaps(values),
        }
    ]
    if blocked is not None and blocked.any():
        traces.append(crosses(blocked))
    layout = {}
    if clickable and max(values.shape) <= MOST_LABELS:
        traces.append(cell_points(values, name))
        layout = {"hovermode": "closest", "hoverdistance": -1}
    keys, queries = axis("key: looked at", key_tokens), axis("query: looking", query_tokens)
    # In one go: every later change of a figure takes as long as making it.
    return go.Figure(
        traces,
        {
            "xaxis": {"side": "top", "tickangle": -45, **keys},
            "yaxis": {"autorange": "reversed", **queries},
            "height": height or int(np.clip(140 + 26 * len(query_tokens), 320, 640)),
            "margin": {"l": 8, "r": 8, "t": 32, "b": 8},
            "plot_bgcolor": "rgba(0,0,0,0)",
            "paper_bgcolor": "rgba(0,0,0,0)",
            **layout,
        },
    )


def word_heatmap(similarities: np.ndarray, words: Sequence[str], *, height: int = 360) -> go.Figure:
    """Cosine similarities [word, word] from -1 to 1; ValueError where the words do not fit."""
    figure = attention_heatmap(
        similarities, words, words, name="cosine", diverging=True, height=height
    )
    figure.update_traces(hovertemplate="%{y}<br>%{x}<br>cosine %{z:.4f}<extra></extra>")
    return figure.update_xaxes(title=None).update_yaxes(title=None)


def crosses(blocked: np.ndarray) -> dict:
    """Grey cells with a cross where `blocked` [query, key] is True, and nothing elsewhere.

    Cells too small for a cross are only grey.
    """
    written = {"text": np.where(blocked, "×", ""), "texttemplate": "%{text}"}
    return {
        "type": "heatmap",
        "z": np.where(blocked, 1.0, np.nan).astype(np.float32),
        "colorscale": [[0, "rgba(128,128,128,0.18)"], [1, "rgba(128,128,128,0.18)"]],
        "showscale": False,
        "textfont": {"color": "gray"},
        "hovertemplate": "query %{y}<br>key %{x}<br>blocked<extra></extra>",
        "hoverongaps": False,
        **gaps(blocked),
        **(written if max(blocked.shape) <= MOST_LABELS else {}),
    }


def gaps(cells: np.ndarray) -> dict:
    """Pixels between cells [query, key], none where there are many."""
    queries, keys = cells.shape
    return {"xgap": int(keys <= MOST_LABELS), "ygap": int(queries <= MOST_LABELS)}


def cell_points(values: np.ndarray, name: str) -> dict:
    """An invisible point in every cell: Plotly tells of clicks on points, not on a heatmap's cells.

    The nearest point takes the pointer, so it says what the cell would; NaN stands for blocked.
    """
    rows, columns = np.indices(values.shape)
    words = ["blocked" if np.isnan(value) else f"{name} {value:.4f}" for value in values.ravel()]
    return {
        "type": "scatter",
        "x": columns.ravel(),
        "y": rows.ravel(),
        "mode": "markers",
        "marker": {"opacity": 0, "size": 8},
        "customdata": words,
        "hovertemplate": "query %{y}<br>key %{x}<br>%{customdata}<extra></extra>",
        "showlegend": False,
    }


def axis(title: str, tokens: Sequence[str]) -> dict:
    """An axis of positions labelled with tokens, so that repeated tokens stay apart."""
    labels = plotly_labels(tokens)
    many = len(labels) > MOST_LABELS
    return {
        "title": f"{title} ({len(labels)}: point to read, drag to zoom in)" if many else title,
        "tickmode": "array",
        "tickvals": list(range(len(labels))),
        "ticktext": labels,
        # Ticks that are not shown still name what one points at.
        "showticklabels": not many,
        "ticks": "" if many else None,
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
    }
