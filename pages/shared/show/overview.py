"""All heads of one run, and one of them in large: the same on every page that shows heads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from pages.shared.show.cells import OpenCell, attention_map
from pages.shared.show.pictures import picked, show
from pages.shared.show.saving import About
from pages.shared.show.words import HOW_TO_READ
from pages.shared.state.choices import OWN_SCALE, SUMMARIES, chosen
from pages.shared.widgets.choose import choose
from viz import attention_heatmap, attention_lines, head_grid, selected_map
from viz.arrays import as_levels, in_bytes

SELECTION = "grid-selection"


def with_summaries(layers: Sequence[np.ndarray]) -> np.ndarray:
    """Return the weights of each layer's heads, followed by their mean and maximum.

    From (H, Q, K) of each layer it fills (layers, H + 2, Q, K) layer by layer: on long texts copies
    would take gigabytes. If any layer is in bytes, all of them become bytes.
    """
    heads, queries, keys = layers[0].shape
    rounded = any(map(in_bytes, layers))
    kind = np.uint8 if rounded else layers[0].dtype
    maps = np.empty((len(layers), heads + len(SUMMARIES), queries, keys), kind)
    for filled, weights in zip(maps, layers, strict=True):
        filled[:heads] = as_levels(weights) if rounded else weights
        mean = filled[:heads].mean(axis=0, dtype=np.float32 if rounded else None)
        filled[heads] = np.rint(mean) if rounded else mean
        filled[heads + 1] = filled[:heads].max(axis=0)
    return maps


def all_heads(
    maps: np.ndarray,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    of: About,
    what: str,
) -> None:
    """Draw a small map of every head, and of their mean and maximum: (layers, H + 2, Q, K).

    `selection` says elsewhere on the page which is selected; for `of` and `what` see `show`.
    """
    heads = range(maps.shape[1] - len(SUMMARIES))
    st.markdown("**All heads**: layers down, heads across. Click one to open it.")
    columns = [*(f"head {head + 1}" for head in heads), *SUMMARIES]
    options = {"column_labels": columns, "linked": True, "own_scale": chosen(OWN_SCALE)}
    grid = head_grid(maps, query_tokens, key_tokens, **options)
    show(grid, "grid", of=of, what=what)
    choose(OWN_SCALE)
    st.caption(HOW_TO_READ["grid"])


def selection(selected: tuple[int, int] | None, open_map: Callable[[int, int], None]) -> None:
    """Mark a layer and a column, from 0, in `all_heads`, and call `open_map` with a clicked one.

    It belongs to the part of a page that a choice runs again; the maps themselves do not.
    """
    show(selected_map(selected), SELECTION, lambda: open_map(*picked(SELECTION)))


def one_in_large(
    weights: np.ndarray,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    picture: str,
    *,
    of: About,
    what: str,
    blocked: np.ndarray | None = None,
    open_cell: OpenCell | None = None,
) -> None:
    """Draw one head's weights (Q, K) as a heatmap, or as lines; for `of` and `what` see `show`.

    A click on a cell of the heatmap calls `open_cell`, if there is one.
    """
    reading = HOW_TO_READ[picture]
    if picture == "heatmap":
        scale = {"maximum": None if chosen(OWN_SCALE) else 1.0, "blocked": blocked}
        clickable = open_cell is not None
        heatmap = attention_heatmap(weights, query_tokens, key_tokens, **scale, clickable=clickable)
        attention_map(heatmap, "heatmap", open_cell, of=of, what=what)
        reading += HOW_TO_READ["clickable" if open_cell else "not clickable"]
    else:
        lines = attention_lines(weights, query_tokens, key_tokens)
        show(lines, "lines", of=of, what=f"{what}, as lines")
    st.caption(reading)
