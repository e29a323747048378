"""Maps whose cells lead to the pages that take a weight apart, or close an edge."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from model.trace import Kind
from pages.shared.runs.run import ModelRun
from pages.shared.show.pictures import picked, show
from pages.shared.show.saving import About
from pages.shared.show.sight import seek
from pages.shared.state.choices import (
    INSIDE_OF,
    INSIDE_PAD_TO,
    INSIDE_TARGET,
    KEY,
    QUERY,
    SENTENCE,
    chosen,
    put,
    select_head,
)
from pages.shared.state.page import PAGES, shown
from pages.shared.state.slide import is_in_slides
from viz import CanvasPicture

WEIGHT_BAR = "weight-bar"  # the key of what says a weight on the page Inside a head

Cell = tuple[Kind, int, int, int, int]  # with layer, head, query and key, from 0
OpenCell = Callable[[int, int], None]  # a callback that takes a query and a key, from 0


def if_taken_apart(run: ModelRun, open_cell: OpenCell) -> OpenCell | None:
    """Return a callback that takes a weight apart, if that can be done in a model."""
    return None if "take apart" in run.reader.missing else open_cell


def attention_map(
    picture: CanvasPicture, key: str, open_cell: OpenCell | None, *, of: About, what: str
) -> None:
    """Draw a heatmap; for `of` and `what` see `show`.

    A click on a cell calls `open_cell`, which may lead to another page, if there is one. On
    slides it reads the cell.
    """
    if is_in_slides():
        show(picture.having(clickable=False), key, of=of, what=what)
        return

    page = shown()

    def pick() -> None:
        cell = picked(key)
        if cell and shown() == page:  # else the page was left by an earlier click
            open_cell(*cell)

    show(picture, key, open_cell and pick, of=of, what=what)
    follow()


def follow() -> None:
    """Go where a click led to: callbacks cannot change the page, or what stands around the map."""
    clicked_on, leads_to = st.session_state.pop("follow", (None, ""))
    if clicked_on and clicked_on == shown():  # else the visitor had left it
        st.switch_page(PAGES[leads_to].file)


def lead_to(page: str) -> None:
    """Have `follow` go to a page, by its key; a callback."""
    st.session_state.follow = shown(), page


def open_inside(
    kind: Kind,
    layer: int,
    head: int,
    query: int,
    key: int,
    *,
    pad_to: int | None = None,
    target: str = "",
    summed_up: str = "",
) -> None:
    """Open the page Inside a head at one cell of one run; everything counts from 0. A callback.

    `summed_up` names the mean or maximum that was clicked, of which this is the largest weight. On
    slides it does nothing.
    """
    if is_in_slides():
        return
    select_head(kind, layer, head)
    run = {INSIDE_OF: chosen(SENTENCE), INSIDE_TARGET: target, INSIDE_PAD_TO: pad_to}
    for choice, value in ({QUERY: query, KEY: key} | run).items():
        put(choice, value)
    stands_for((kind, layer, head, query, key), summed_up)
    seek(WEIGHT_BAR)
    lead_to("inside")


def stands_for(cell: Cell, summed_up: str) -> None:
    """Note which mean or maximum a weight is the largest of; empty if of none."""
    st.session_state.stands_for = cell, summed_up


def stood_for(cell: Cell) -> str:
    """Return which mean or maximum a weight was opened for, as the largest of it; else nothing."""
    of, summed_up = st.session_state.get("stands_for", (None, ""))
    return summed_up if of == cell else ""
