"""The tabs of a weight, which every model that can be taken apart has."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from streamlit.delta_generator import DeltaGenerator

from model.insight.weight import Weight
from pages.shared.inside.beyond import beyond
from pages.shared.inside.steps import step_by_step
from pages.shared.inside.switches import switches
from pages.shared.show.saving import About
from pages.shared.state.choice import Choice, one_of

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


def weight_tab(
    name: str,
    weight: Weight,
    more: Mapping[str, Callable[[], None]],
    *,
    bar: DeltaGenerator,
    of: About,
) -> None:
    """Draw a tab about a weight: one that all models share, or one `more`.

    The `bar` above stays in sight, and gets the list of what is in a long tab.
    """
    shared = {
        "steps": lambda: step_by_step(weight, of, bar),
        "beyond": lambda: beyond(weight, of),
        "switches": lambda: switches(weight, of, bar),
    }
    {**shared, **more}[name]()
