"""All heads of one run, and one of them in large: the same on every page that shows heads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from pages.shared.show.cells import OpenCell, attention_map
from pages.shared.show.glossary import caption
from pages.shared.show.pictures import picked, show
from pages.shared.show.saving import About
from pages.shared.show.words import HOW_TO_READ
from pages.shared.state.choices import HEAD, LAYER, LIT, OWN_SCALE, SUMMARIES, chosen, put
from pages.shared.widgets.choose import choose
from viz import Behind, CanvasPicture, attention_heatmap, attention_lines, head_grid, selected_map
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

    def to_keep() -> CanvasPicture:
        """Return the picture of all heads that opens on the chosen one."""
        layer, place = chosen(LAYER), [*heads, *SUMMARIES].index(chosen(HEAD))
        selected = None if layer in SUMMARIES else (layer, place)
        return grid.having(linked=False, selected=selected)

    show(grid, "grid", of=of, what=what, to_keep=to_keep)
    choose(OWN_SCALE)
    caption(HOW_TO_READ["grid"])


def selection(selected: tuple[int, int] | None, open_map: Callable[[int, int], None]) -> None:
    """Mark a layer and a column, from 0, in `all_heads`, and call `open_map` with a clicked one.

    It belongs to the part of a page that a choice runs again; the maps themselves do not.
    """
    show(selected_map(selected), SELECTION, lambda: open_map(*picked(SELECTION)))


def large_heatmap(
    weights: np.ndarray,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    of: About,
    what: str,
    blocked: np.ndarray | None = None,
    behind: Behind | None = None,
    name: str = "weight",
    open_cell: OpenCell | None = None,
) -> None:
    """Draw one head's weights (Q, K) as a heatmap; for `of` and `what` see `show`.

    A click on a cell calls `open_cell`, if there is one. For what is `behind` weights that sum up
    several see `attention_heatmap`; their `name` is then another.
    """
    cells = {"maximum": None if chosen(OWN_SCALE) else 1.0, "blocked": blocked, "behind": behind}
    cells |= {"name": name, "clickable": open_cell is not None}
    heatmap = attention_heatmap(weights, query_tokens, key_tokens, **cells)
    attention_map(heatmap, "heatmap", open_cell, of=of, what=what)
    click = "clickable" if open_cell else "not clickable"
    caption(HOW_TO_READ["heatmap"] + HOW_TO_READ[click])


def large_lines(
    weights: np.ndarray,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    of: About,
    what: str,
) -> None:
    """Draw one head's weights (Q, K) as lines, those of the chosen token alone if there is one."""
    lit = lit_among(query_tokens, key_tokens)
    lines = attention_lines(weights, query_tokens, key_tokens, lit=lit)
    show(lines, "lines", lambda: light(picked("lines")), of=of, what=f"{what}, as lines")
    caption(HOW_TO_READ["lines"])


def lit_among(queries: Sequence[str], keys: Sequence[str]) -> tuple[str, int] | None:
    """Return the side and the place, from 0, of the token whose lines are kept; None if none is."""
    letter, place = chosen(LIT)[:1], int(chosen(LIT)[1:] or 0) - 1
    side, tokens = ("query", queries) if letter == "q" else ("key", keys)
    return (side, place) if 0 <= place < len(tokens) else None


def light(token: tuple[str, int] | None) -> None:
    """Keep the lines of a token, by its side and its place from 0, or of all; a callback."""
    put(LIT, f"{token[0][0]}{token[1] + 1}" if token else "")
