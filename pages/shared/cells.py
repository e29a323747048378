"""Attention maps whose cells lead to the page that takes a weight apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import plotly.graph_objects as go
import streamlit as st

from model.trace import Kind
from pages.shared import presenter
from pages.shared.pictures import show_plotly
from viz.numbers import Numbers

OpenCell = Callable[[int, int], None]  # a callback that takes a query and a key, from 0


def attention_map(
    figure: go.Figure,
    key: str,
    open_cell: OpenCell | None,
    *,
    save: str,
    numbers: Mapping[str, Numbers],
) -> None:
    """Draw a map of `numbers` and say in `save` what it shows, for its files.

    A click on a cell calls `open_cell`, where there is one, which may lead to another page.
    """

    def clicked() -> None:
        if points := st.session_state[key]["selection"]["points"]:
            open_cell(int(points[0]["y"]), int(points[0]["x"]))

    figure = presenter.enlarged(figure)
    on_select = clicked if open_cell else None
    show_plotly(figure, key, save=save, numbers=numbers, on_select=on_select)
    follow()


def follow() -> None:
    """Go where a click led to; callbacks cannot change the page themselves."""
    if st.session_state.pop("to_inside", False):
        st.switch_page("pages/inside.py")


def open_inside(
    kind: Kind,
    layer: int,
    head: int,
    query: int,
    key: int,
    *,
    changed: bool = False,
    pad_to: int | None = None,
    target: str = "",
) -> None:
    """Have the page Inside a head opened at one cell of one run; everything counts from 0."""
    st.session_state.update(
        kind=kind,
        layer=layer + 1,
        head=str(head + 1),
        query=query + 1,
        key=key + 1,
        changed=changed,
        inside_of=st.session_state.sentence,
        inside_target=target,
        inside_pad_to=pad_to or "off",
        to_inside=True,
    )
