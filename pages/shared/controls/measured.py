"""What effects of heads are measured on: all that a model wrote, or one token of it."""

from __future__ import annotations

import streamlit as st

from pages.shared.runs.run import ModelRun
from pages.shared.show.comparison import measured_on
from pages.shared.state.choice import Choice, counted
from pages.shared.state.choices import MOST_TOKENS
from pages.shared.widgets.choose import choose

ALL = "all"  # of a text's tokens
MEASURED = Choice(
    "measured",
    ALL,
    lambda text, shape: ALL if text == ALL else counted("", 0, MOST_TOKENS).read(text, shape),
    lambda place: ALL if place == ALL else str(place + 1),
    label="Measured on",
    options={ALL: "all of it"},
)


def choose_measured(run: ModelRun) -> int | None:
    """Draw the choice of what effects on a run are measured on; None stands for all of it."""
    tokens = measured_on(run)
    options = {
        ALL: MEASURED.options[ALL],
        **{place: f"{place + 1}: {token}" for place, token in enumerate(tokens)},
    }
    box = {"widget": st.selectbox, "format_func": options.get, "width": 220}
    on = choose(MEASURED, options if len(tokens) > 1 else [ALL], **box)
    return None if on == ALL else on
