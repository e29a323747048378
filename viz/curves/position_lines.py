"""Draw numbers by position, or by the distance of two positions, as lines on shared axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import altair as alt

# Okabe and Ito's colours, which colour-blind people can tell apart, without the pale ones.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f8c8d", "#a6761d")
MOST_LINES = len(COLORS)
AROUND = 110  # pixels of a chart's height that are neither plot nor legend
LEGEND_ROW = 22  # pixels
DOT = 22  # the area of a dot in square pixels
LINE = {"strokeWidth": 1.8, "clip": True}
ROOM = 35  # characters that a row of the legend holds on a phone


def position_lines(
    lines: Mapping[str, np.ndarray],
    positions: Sequence[float] | np.ndarray | None = None,
    *,
    x: str = "position",
    y: str = "value",
    limits: tuple[float, float] | None = None,
    bands: Mapping[str, tuple[np.ndarray, np.ndarray]] | None = None,
    curves: tuple[np.ndarray, Mapping[str, np.ndarray]] | None = None,
    logarithmic: bool = False,
    height: int = 200,
) -> alt.Chart | alt.LayerChart:
    """Draw a line for each name over `positions`, which count from 0 if None; NaN leaves a gap.

    `x` and `y` name the axes, and `limits` are the ends of the y axis. `bands` hold the smallest
    and the largest numbers of some lines, drawn as an area. `curves` are finer positions and the
    lines' numbers there: the lines follow these, and the numbers at `positions` are dots. `height`
    is the plot's in pixels. A single line has no legend: the y axis names it. There are at
    most `MOST_LINES` lines.
    """
    import altair as alt
    import pandas as pd

    positions = range(max(map(len, lines.values()))) if positions is None else positions
    frames = []
    for name, values in lines.items():
        columns = {"place": positions, "line": name, "value": values}
        if bands:
            columns["low"], columns["high"] = bands.get(name, (values, values))
        frames.append(pd.DataFrame(columns))
    rows = pd.concat(frames).dropna()
    domain = list(limits) if limits else alt.Undefined
    scale = alt.Scale(type="symlog" if logarithmic else "linear", domain=domain)
    marks = alt.Undefined
    if logarithmic:  # without this, an axis that reaches 0 has marks only at its two ends
        values = [0, *(10**power for power in range(10))]
        marks = alt.Axis(values=values, labelExpr="format(datum.value, ',')")
    whole = all(float(position).is_integer() for position in positions)
    axis = alt.Axis(tickMinStep=1) if whole else alt.Axis()
    columns = min(3, max(1, ROOM // max(map(len, lines))))
    legend = alt.Legend(
        orient="top",
        title=None,
        columns=columns,
        labelLimit=0,
        symbolType="stroke",
        symbolOpacity=1,
    )
    chart = alt.Chart(rows).encode(
        x=alt.X("place:Q", title=x, scale=alt.Scale(nice=False), axis=axis),
        color=alt.Color(
            "line:N",
            sort=list(lines),
            scale=alt.Scale(domain=list(lines), range=list(COLORS[: len(lines)])),
            legend=legend if len(lines) > 1 else None,
        ),
    )
    marked = chart.mark_circle(size=DOT, opacity=1) if curves else chart.mark_line(**LINE)
    drawn = marked.encode(
        y=alt.Y("value:Q", title=y, scale=scale, axis=marks),
        tooltip=[
            alt.Tooltip("line:N", title="line"),
            alt.Tooltip("place:Q", title=x),
            alt.Tooltip("value:Q", title=y, format=".4~g"),
        ],
    )
    if bands:
        area = chart.mark_area(opacity=0.2, clip=True).encode(
            y=alt.Y("low:Q", title=y), y2="high:Q"
        )
        drawn = alt.LayerChart(layer=[area, drawn])
    if curves:
        places, finer = curves
        frames = [
            pd.DataFrame({"place": places, "line": name, "value": values})
            for name, values in finer.items()
        ]
        smooth = drawn.properties(data=pd.concat(frames)).mark_line(**LINE)
        drawn = alt.LayerChart(layer=[drawn, smooth])
    legend_height = LEGEND_ROW * math.ceil(len(lines) / columns) if len(lines) > 1 else 0
    return drawn.properties(height=height + AROUND + legend_height)


def wavelengths(
    lengths: np.ndarray,
    *,
    positions: int,
    height: int = 300,
    neighbours: bool = True,
) -> alt.LayerChart:
    """Draw each pair's wavelength, the positions per full turn of its dimensions: lengths (pairs,).

    Pair i has the dimensions 2i and 2i + 1 if they are `neighbours`, or else i and i + pairs. A
    horizontal line marks the number of `positions` that the page's other pictures show.
    """
    import altair as alt
    import pandas as pd

    pairs, count = np.arange(len(lengths)), len(lengths)
    first, second = (2 * pairs, 2 * pairs + 1) if neighbours else (pairs, pairs + count)
    names = "2i and 2i + 1" if neighbours else f"i and i + {count}"
    rows = pd.DataFrame(
        {
            "pair": pairs,
            "dimensions": [f"{one} and {other}" for one, other in zip(first, second, strict=True)],
            "wavelength": lengths,
        }
    )
    points = (
        alt.Chart(rows)
        .mark_line(point=alt.OverlayMarkDef(size=18), color=COLORS[0])
        .encode(
            x=alt.X(
                "pair:Q",
                title=f"pair i: dimensions {names}",
                scale=alt.Scale(nice=False),
                axis=alt.Axis(tickMinStep=1),
            ),
            y=alt.Y("wavelength:Q", title="wavelength in positions", scale=alt.Scale(type="log")),
            tooltip=["pair:Q", "dimensions:N", alt.Tooltip("wavelength:Q", format=".4~g")],
        )
    )
    mark = pd.DataFrame({"wavelength": [positions], "text": [f"the {positions} positions shown"]})
    rule = alt.Chart(mark).encode(y="wavelength:Q")
    layers = [
        points,
        rule.mark_rule(strokeDash=[4, 4], color="gray"),
        # The words are at the right end, below the rule: there the curve is above the rule.
        rule.mark_text(align="right", dy=10, color="gray").encode(
            x=alt.value("width"), text="text:N"
        ),
    ]
    return alt.LayerChart(layer=layers).properties(height=height)
