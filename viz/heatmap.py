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
) -> go.Figure:
    """Weights, scores or differences [query, key] with queries down and keys across.

    The colours run from 0 to `maximum`, or `diverging` from minus to plus it; None stands for the
    largest value there is. Without `key_tokens` the queries look at each other. `blocked` cells
    are crossed out instead of coloured; `height` is in pixels. Raises ValueError where the tokens
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
    figure = go.Figure(
        go.Heatmap(
            z=values,
            colorscale=DIVERGING if diverging else SEQUENTIAL,
            zmin=-maximum if diverging else 0,
            zmax=maximum,
            colorbar={"title": {"text": name}, "thickness": 12, "outlinewidth": 0},
            hovertemplate=f"query %{{y}}<br>key %{{x}}<br>{name} %{{z:.4f}}<extra></extra>",
            hoverongaps=False,
            xgap=1 if len(key_tokens) <= MOST_LABELS else 0,
            ygap=1 if len(query_tokens) <= MOST_LABELS else 0,
        )
    )
    if blocked is not None and blocked.any():
        figure.add_trace(crosses(blocked))
    figure.update_xaxes(title="key: looked at", side="top", tickangle=-45, **axis(key_tokens))
    figure.update_yaxes(title="query: looking", autorange="reversed", **axis(query_tokens))
    figure.update_layout(
        height=height or int(np.clip(140 + 26 * len(query_tokens), 320, 640)),
        margin={"l": 8, "r": 8, "t": 32, "b": 8},
        plot_bgcolor="rgba(0,0,0,0)",
        paper_bgcolor="rgba(0,0,0,0)",
    )
    return figure


def crosses(blocked: np.ndarray) -> go.Heatmap:
    """Grey cells with a cross where `blocked` [query, key] is True, and nothing elsewhere."""
    return go.Heatmap(
        z=np.where(blocked, 1.0, np.nan).astype(np.float32),
        colorscale=[[0, "rgba(128,128,128,0.18)"], [1, "rgba(128,128,128,0.18)"]],
        showscale=False,
        text=np.where(blocked, "×", ""),
        texttemplate="%{text}",
        textfont={"color": "gray"},
        hovertemplate="query %{y}<br>key %{x}<br>blocked<extra></extra>",
        hoverongaps=False,
        xgap=1,
        ygap=1,
    )


def axis(tokens: Sequence[str]) -> dict:
    """An axis of positions labelled with tokens, so that repeated tokens stay apart."""
    labels = plotly_labels(tokens)
    return {
        "tickmode": "array",
        "tickvals": list(range(len(labels))),
        "ticktext": labels,
        # Hidden rather than off: what one points at is named by its tick.
        "tickfont": {"size": 1, "color": "rgba(0,0,0,0)"} if len(labels) > MOST_LABELS else {},
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
    }
