"""How a training went."""

from __future__ import annotations

import altair as alt
import pandas as pd

PANELS = {
    "valid_loss": "loss on unseen pairs, nats a token",
    "bleu": "BLEU on unseen pairs",
    "learning_rate": "learning rate",
}


def training_curves(log: pd.DataFrame) -> alt.HConcatChart:
    """The loss, the BLEU score and the learning rate against the training step.

    `log` has the columns step, valid_loss, bleu and learning_rate, one row each time of scoring.
    """
    charts = [
        alt.Chart(log)
        .mark_line(point=True)
        .encode(
            x=alt.X("step:Q", title="step"),
            y=alt.Y(f"{column}:Q", title=title, scale=alt.Scale(zero=column != "valid_loss")),
            tooltip=["step:Q", alt.Tooltip(f"{column}:Q", format=".4~g")],
        )
        .properties(width=220, height=180)
        for column, title in PANELS.items()
    ]
    return alt.hconcat(*charts)
