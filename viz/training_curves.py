"""How a training went."""

from __future__ import annotations

import altair as alt
import pandas as pd

TITLES = {
    "valid_loss": "loss on unseen pairs",
    "bleu": "BLEU on unseen pairs",
    "learning_rate": "learning rate",
}


def training_curves(log: pd.DataFrame) -> list[alt.Chart]:
    """The loss, the BLEU score and the learning rate against the training step, a chart each.

    `log` has the columns step, valid_loss, bleu and learning_rate, one row each time of scoring.
    """
    return [
        alt.Chart(log)
        .mark_line(point=True)
        .encode(
            x=alt.X("step:Q", title="step"),
            y=alt.Y(f"{column}:Q", title=title, scale=alt.Scale(zero=column != "valid_loss")),
            tooltip=["step:Q", alt.Tooltip(f"{column}:Q", format=".4~g")],
        )
        .properties(height=220)
        for column, title in TITLES.items()
    ]
