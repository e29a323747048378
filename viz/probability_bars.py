"""How likely a model finds each token of a text, in several runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import altair as alt

COLORS = ("#7f8c8d", "#2a7f9e", "#b45309")  # grey for the run that others are compared with


def probability_bars(runs: Mapping[str, np.ndarray], tokens: Sequence[str]) -> alt.Chart:
    """Probabilities (0 to 1) of the same tokens in up to three runs, named by the keys.

    Bars stand in the order of the text, from top to bottom. Raises ValueError where a run's
    probabilities do not fit the tokens.
    """
    import altair as alt
    import pandas as pd

    for name, probabilities in runs.items():
        if len(probabilities) != len(tokens):
            raise ValueError(
                f"{name} has {len(probabilities)} probabilities but there are {len(tokens)} tokens."
            )
    places = [f"{place + 1}  {token}" for place, token in enumerate(tokens)]
    rows = pd.DataFrame(
        [
            {"token": place, "run": name, "probability": float(probability)}
            for name, probabilities in runs.items()
            for place, probability in zip(places, probabilities, strict=True)
        ]
    )
    return (
        alt.Chart(rows)
        .mark_bar()
        .encode(
            y=alt.Y("token:N", sort=None, title=None, axis=alt.Axis(labelLimit=140)),
            yOffset=alt.YOffset("run:N", sort=list(runs)),
            x=alt.X("probability:Q", scale=alt.Scale(domain=[0, 1]), title="probability"),
            color=alt.Color(
                "run:N",
                sort=list(runs),
                scale=alt.Scale(domain=list(runs), range=list(COLORS[: len(runs)])),
                legend=alt.Legend(orient="top", title=None),
            ),
            tooltip=["token:N", "run:N", alt.Tooltip("probability:Q", format=".4f")],
        )
        .properties(height=alt.Step(max(8, 26 / len(runs))))
    )
