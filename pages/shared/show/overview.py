"""All heads of one run, and one of them in large: the same on every page that shows heads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from pages.shared.show.cells import OpenCell, attention_map
from pages.shared.show.pictures import picked, show
from pages.shared.show.words import HOW_TO_READ
from pages.shared.state import scene
from viz import attention_heatmap, attention_lines, head_grid, selected_map

SELECTION = "grid-selection"


def with_summaries(layers: Sequence[np.ndarray]) -> np.ndarray:
    """The weights of each layer's heads (H, Q, K), their mean and maximum after them.

    Returns (layers, H + 2, Q, K), filled layer by layer: on long texts copies would take gigabytes.
    """
    heads, queries, keys = layers[0].shape
    maps = np.empty((len(layers), heads + len(scene.SUMMARIES), queries, keys), layers[0].dtype)
    for filled, weights in zip(maps, layers, strict=True):
        filled[:heads] = weights
        filled[heads] = weights.mean(axis=0)
        filled[heads + 1] = weights.max(axis=0)
    return maps


def all_heads(
    maps: np.ndarray,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    save: str,
) -> None:
    """A small map of every head, and of their mean and maximum: (layers, H + 2, Q, K).

    `selection` says elsewhere on the page which is selected; `save` says what they show.
    """
    names = scene.head_names(maps.shape[1] - len(scene.SUMMARIES))
    st.markdown("**All heads**: layers down, heads across. Click one to open it.")
    grid = head_grid(
        maps,
        query_tokens,
        key_tokens,
        column_labels=[name if name in scene.SUMMARIES else f"head {name}" for name in names],
        linked=True,
        own_scale=own_scale(),
    )
    show(grid, "grid", save=save)
    st.toggle(
        "Brighten each map to its own largest weight",
        key="own_scale",
        help="Good for long sentences. Off, all maps share one scale from 0 to 1, so that "
        "they can be compared.",
    )
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
    save: str,
    blocked: np.ndarray | None = None,
    open_cell: OpenCell | None = None,
) -> None:
    """One head's weights (Q, K) as a heatmap, whose cells lead on where wanted, or as lines.

    `save` says which head's they are.
    """
    if picture == "heatmap":
        heatmap = attention_heatmap(
            weights,
            query_tokens,
            key_tokens,
            maximum=None if own_scale() else 1.0,
            blocked=blocked,
            clickable=open_cell is not None,
        )
        if open_cell:
            attention_map(heatmap, "heatmap", open_cell, save=save)
        else:
            show(heatmap, "heatmap", save=save)
    else:
        lines = attention_lines(weights, query_tokens, key_tokens)
        show(lines, "lines", save=f"{save}, as lines")
    words = HOW_TO_READ[picture]
    if picture == "heatmap":
        words += HOW_TO_READ["clickable" if open_cell else "not clickable"]
    st.caption(words)


def own_scale() -> bool:
    """Whether each map is brightened to its own largest weight."""
    return st.session_state.get("own_scale", False)
