"""One head as a heatmap that people can zoom, read and save."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.colors import SEQUENTIAL
from viz.tokens import check_sizes, plotly_labels

MOST_LABELS = 64  # beyond, every second or third token has a tick; all keep their hover


def attention_heatmap(
    weights: np.ndarray,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    maximum: float | None = 1.0,
    height: int | None = None,
) -> go.Figure:
    """Weights [query, key] with queries down and keys across.

    The colours run from 0 to `maximum`, or to the largest weight where it is None; `height` is in
    pixels. Raises ValueError where the tokens do not fit the weights.
    """
    check_sizes(weights, query_tokens, key_tokens)
    figure = go.Figure(
        go.Heatmap(
            z=np.asarray(weights, dtype=np.float32),
            colorscale=SEQUENTIAL,
            zmin=0,
            zmax=maximum,
            colorbar={"title": {"text": "weight"}, "thickness": 12, "outlinewidth": 0},
            hovertemplate="query %{y}<br>key %{x}<br>weight %{z:.4f}<extra></extra>",
            xgap=1 if len(key_tokens) <= MOST_LABELS else 0,
            ygap=1 if len(query_tokens) <= MOST_LABELS else 0,
        )
    )
    figure.update_xaxes(title="key: looked at", side="top", tickangle=-45, **axis(key_tokens))
    figure.update_yaxes(title="query: looking", autorange="reversed", **axis(query_tokens))
    figure.update_layout(
        height=height or int(np.clip(140 + 26 * len(query_tokens), 320, 640)),
        margin={"l": 8, "r": 8, "t": 32, "b": 8},
        plot_bgcolor="rgba(0,0,0,0)",
        paper_bgcolor="rgba(0,0,0,0)",
    )
    return figure


def axis(tokens: Sequence[str]) -> dict:
    """An axis of positions labelled with tokens, so that repeated tokens stay apart."""
    labels = plotly_labels(tokens)
    return {
        "tickmode": "array",
        "tickvals": list(range(len(labels))),
        "ticktext": labels,
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
    }
