"""Draw a table of numbers by position, such as positional encodings, as a heatmap."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from headlight.viz.arrays import as_array
from headlight.viz.colors import DIVERGING, limit_of
from headlight.viz.numbers import Numbers, counted

CLEAR = "rgba(0,0,0,0)"


def position_heatmap(
    values: np.ndarray,
    *,
    rows: str = "position",
    columns: str = "dimension",
    name: str = "value",
    limit: float | None = None,
    height: int = 380,
) -> go.Figure:
    """Draw a table [row, column], such as position by dimension, or position by position.

    Both axes count from 0, as in the paper's formula. The colours run from -`limit` to `limit`,
    which `limit_of` chooses if it is None. `rows` and `columns` name the axes, `name` the numbers;
    `height` is in pixels. Raises ValueError unless there are two axes.
    """
    values, clipped = as_array(values), False
    if values.ndim != 2:
        raise ValueError(f"Give a table [row, column]: this one has the shape {values.shape}.")
    if limit is None:
        limit, clipped = limit_of(values)
    title = f"{name}, clipped" if clipped else name
    figure = go.Figure(
        go.Heatmap(
            z=values.astype(np.float32),
            colorscale=DIVERGING["light"],
            zmin=-limit,
            zmax=limit,
            colorbar={"title": {"text": title}, "thickness": 12, "outlinewidth": 0},
            meta={"name": name, "axes": [rows, columns]},  # for `numbers_of`
            hovertemplate=f"{rows} %{{y}}<br>{columns} %{{x}}<br>{name} %{{z:.3f}}<extra></extra>",
        )
    )
    plain = {"showgrid": False, "zeroline": False}
    figure.update_xaxes(title=columns, side="top", **plain)
    figure.update_yaxes(title=rows, autorange="reversed", **plain)
    return figure.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 32, "b": 8},
        plot_bgcolor=CLEAR,
        paper_bgcolor=CLEAR,
    )


def in_theme(figure: go.Figure, theme: str) -> go.Figure:
    """Give the figure the colours for a `light` or a `dark` theme, and return it."""
    return figure.update_traces(colorscale=DIVERGING[theme])


def numbers_of(figure: go.Figure) -> dict[str, Numbers]:
    """Return the numbers that a `position_heatmap` shows, with the names given to it."""
    drawn: Any = figure.data[0]
    texts = [counted(length, 0) for length in drawn.z.shape]
    axes = dict(zip(drawn.meta["axes"], texts, strict=True))
    return {drawn.meta["name"]: Numbers(drawn.z, axes)}
