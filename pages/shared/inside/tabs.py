"""The tabs of a weight, which every model that can be taken apart has."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from model.insight.weight import Weight
from pages.shared.inside.beyond import beyond
from pages.shared.inside.steps import step_by_step
from pages.shared.inside.switches import switches
from pages.shared.runs.inside import taken_apart
from pages.shared.show.saving import About
from pages.shared.state.choice import Choice, one_of
from pages.shared.widgets.choose import tabs

TITLES = {
    "steps": "Step by step",
    "beyond": "Beyond the weight",
    "switches": "Switches",
    "stream": "Residual stream",
}


def tab_choice(key: str, titles: Mapping[str, str] = TITLES) -> Choice:
    """Return the choice of a tab; links of version 1 name tabs by their titles."""
    old = {title: name for name, title in titles.items()}
    return one_of(key, titles, label="What is shown", old=old)


def weight_tabs(
    choice: Choice,
    weight: Weight,
    more: Mapping[str, Callable[[], None]],
    *,
    of: About,
) -> None:
    """Draw a weight and the chosen tab about it: one that all models share, or one `more`."""
    st.metric("Weight", f"{taken_apart(weight).weights[weight.key]:.4f}")
    shared = {
        "steps": lambda: step_by_step(weight, of),
        "beyond": lambda: beyond(weight, of),
        "switches": lambda: switches(weight, of),
    }
    tabs(choice, {**shared, **more})
