"""A table with a row for each head, in which a head can be chosen."""

from collections.abc import Mapping, Sequence

import streamlit as st

from model.edits import HeadAddress
from pages.shared.show.pictures import show_table
from pages.shared.show.saving import About
from pages.shared.state.choices import select_head
from viz.numbers import Numbers


def show_heads(
    heads: Sequence[HeadAddress],
    columns: Mapping[str, Sequence],
    key: str,
    numbers: Mapping[str, Numbers],
    *,
    of: About,
    what: str,
    column_config: Mapping[str, object],
) -> None:
    """Draw a table of heads with columns next to their names; choosing a row selects its head."""
    import pandas as pd  # takes long

    named = {
        "kind": [kind for kind, _, _ in heads],
        "layer": [layer + 1 for _, layer, _ in heads],
        "head": [head + 1 for _, _, head in heads],
    }

    def select_row() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        if rows and rows[0] < len(heads):  # the model may be gone
            select_head(*heads[rows[0]])

    show_table(
        pd.DataFrame({**named, **columns}),
        key,
        numbers,
        of=of,
        what=what,
        column_config=column_config,
        hide_index=True,
        placeholder="",  # for a figure that is missing
        on_select=select_row,
        selection_mode="single-row",
    )
