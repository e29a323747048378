"""Attention maps whose cells lead to the page that takes a weight apart."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from model.trace import Kind
from pages.shared.show.pictures import picked, show
from viz import CanvasPicture

OpenCell = Callable[[int, int], None]  # a callback that takes a query and a key, from 0


def attention_map(picture: CanvasPicture, key: str, open_cell: OpenCell, *, save: str) -> None:
    """Draw a clickable heatmap and say in `save` what it shows, for its files.

    A click on a cell calls `open_cell`, which may lead to another page.
    """
    show(picture, key, lambda: open_cell(*picked(key)), save=save)
    follow()


def follow() -> None:
    """Go where a click led to: callbacks cannot change the page, or what stands around the map."""
    if st.session_state.pop("to_inside", False):
        st.switch_page("pages/inside.py")
    if st.session_state.pop("to_tab", False):
        st.rerun()


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
