"""The pictures of all heads of a run, and of one head enlarged, for every page that has them."""

from collections.abc import Callable, Collection, Sequence
from functools import partial

import numpy as np
import streamlit as st

from headlight.pages.shared.runs.readers import reader
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.show.cells import OpenCell, attention_map
from headlight.pages.shared.show.pictures import picked, show
from headlight.pages.shared.show.riddle import Riddle
from headlight.pages.shared.show.saving import About
from headlight.pages.shared.show.words import HOW_TO_READ
from headlight.pages.shared.state.choice import Choice
from headlight.pages.shared.state.choices import (
    HEAD,
    KINDS,
    LAYER,
    LIT,
    OWN_SCALE,
    SUMMARIES,
    chosen,
    put,
)
from headlight.pages.shared.state.wings import CLICKS, allows, if_clicks
from headlight.pages.shared.widgets.choose import choose
from headlight.viz import (
    Behind,
    CanvasPicture,
    architecture_map,
    attention_heatmap,
    attention_lines,
    attention_text,
    head_grid,
    selected_map,
)
from headlight.viz.arrays import as_levels, in_bytes

SELECTION = "grid-selection"
KEY = "architecture"
WIDTH = 96  # pixels
ALL_LINES = "none"  # the value of the choice `LIT` if no token is pinned


def with_summaries(layers: Sequence[np.ndarray]) -> np.ndarray:
    """Return the weights of each layer's heads, followed by their mean and maximum.

    The result (layers, H + 2, Q, K) is filled layer by layer from arrays (H, Q, K), because copies
    would take gigabytes for long texts. If any layer's weights are stored as bytes, so is the
    result.
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
    group: int = 1,
    off: Collection[tuple[int, int]] = (),
) -> None:
    """Draw a small map of every head, and of each layer's mean and maximum.

    `maps` are (layers, H + 2, Q, K). Every `group` neighbouring heads share keys and values. Heads
    in `off`, as (layer, head), are pale. `selection` marks the selected map. For `of` and `what`
    see `show`. The maps are hidden while a riddle is to be guessed: they would give the answer.
    """
    heads = range(maps.shape[1] - len(SUMMARIES))
    columns = [*(f"head {head + 1}" for head in heads), *SUMMARIES]
    options = {"column_labels": columns, "linked": True, "own_scale": chosen(OWN_SCALE)}
    options |= {"group": group, "off": off}
    grid = head_grid(maps, query_tokens, key_tokens, **options)

    def to_keep() -> CanvasPicture:
        """Return the picture to be saved: all heads, with the chosen head marked."""
        layer, place = chosen(LAYER), [*heads, *SUMMARIES].index(chosen(HEAD))
        selected = None if layer in SUMMARIES else (layer, place)
        return grid.having(linked=False, selected=selected)

    above = st.container()
    if show(grid, "grid", of=of, what=what, to_keep=to_keep, tells=True):
        clicks = if_clicks(" Click a map to open it.")
        above.markdown(f"**All heads**: each row is a layer, each column a head.{clicks}")
        choose(OWN_SCALE)
        words = HOW_TO_READ["grid"] + (HOW_TO_READ["groups"] if group > 1 else "")
        caption(words.format(bright="its own largest weight" if chosen(OWN_SCALE) else "1"))


def selection(selected: tuple[int, int] | None, open_map: Callable[[int, int], None]) -> None:
    """Mark the selected map of `all_heads`, and call `open_map` when a map is clicked.

    A map is given by its layer and column, from 0. Call this in the part of the page that a choice
    redraws; the maps themselves can be outside this part.
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
    framed: tuple[int, int] | None = None,
    riddle: Callable[[], Riddle] | None = None,
    below: Callable[[], None] = lambda: None,
) -> bool:
    """Draw a head's weights (Q, K) as a heatmap, with one cell `framed` if wanted.

    For `of`, `what`, `riddle` and the return value see `show`; `below` draws the text below the
    heatmap. A click on a cell calls `open_cell`, if given. For `behind`, used for means and maxima,
    see `attention_heatmap`; `name` says what a cell's number is, such as “weight”.
    """
    cells = {"maximum": None if chosen(OWN_SCALE) else 1.0, "blocked": blocked, "behind": behind}
    cells |= {"name": name, "clickable": open_cell is not None, "framed": framed}
    heatmap = attention_heatmap(weights, query_tokens, key_tokens, **cells)
    if attention_map(heatmap, "heatmap", open_cell, of=of, what=what, riddle=riddle):
        below()
        click = if_clicks(HOW_TO_READ["clickable"]) if open_cell else ""
        caption(HOW_TO_READ["heatmap"].format(click=click))
        return True
    return False


def large_lines(
    weights: np.ndarray,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    of: About,
    what: str,
    lit: tuple[str, int] | None = None,
    riddle: Callable[[], Riddle] | None = None,
    below: Callable[[], None] = lambda: None,
) -> bool:
    """Draw a head's weights (Q, K) as lines; if `lit` names a token, only this token's lines.

    For `of`, `what`, `riddle` and the return value see `show`; `below` draws the text below.
    """
    options = {"lit": lit, "keeps": allows(CLICKS)}
    lines = attention_lines(weights, query_tokens, key_tokens, **options)
    what = f"{what}, as lines"
    return show_lit(lines, "lines", of=of, what=what, riddle=riddle, below=below)


def large_text(
    weights: np.ndarray,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str] | None,
    *,
    words: tuple[Sequence[int], Sequence[int]],
    of: About,
    what: str,
    lit: tuple[str, int] | None = None,
    riddle: Callable[[], Riddle] | None = None,
    below: Callable[[], None] = lambda: None,
) -> bool:
    """Draw a head's weights (Q, K) as shades of running text: those of the token `lit`, if any.

    `words` has the number of each query's word and of each key's word. If `key_tokens` is None,
    queries and keys are one text. For `of`, `what`, `riddle` and the return value see `show`;
    `below` draws the words below the text.
    """
    options = {"words": words[0], "key_words": words[1], "lit": lit, "keeps": allows(CLICKS)}
    text = attention_text(weights, query_tokens, key_tokens, **options)
    what = f"{what}, as a text"
    return show_lit(text, "text", of=of, what=what, riddle=riddle, below=below)


def show_lit(
    picture: CanvasPicture,
    key: str,
    *,
    of: About,
    what: str,
    riddle: Callable[[], Riddle] | None,
    below: Callable[[], None],
) -> bool:
    """Draw the picture “lines” or “text”, in which a click pins a token, and the words below it."""
    if show(picture, key, lambda: light(picked(key)), of=of, what=what, riddle=riddle):
        below()
        caption(HOW_TO_READ[key].format(click=if_clicks(HOW_TO_READ[f"kept {key}"])))
        return True
    return False


def lit_among(queries: Sequence[str], keys: Sequence[str]) -> tuple[str, int] | None:
    """Return "query" or "key" and the pinned token's index, from 0; None if none is pinned."""
    if chosen(LIT) in ("", ALL_LINES):
        return None
    letter, index = chosen(LIT)[0], int(chosen(LIT)[1:]) - 1
    side, tokens = ("query", queries) if letter == "q" else ("key", keys)
    return (side, index) if 0 <= index < len(tokens) else None


def light(token: tuple[str, int] | None) -> None:
    """Pin a token, given as ("query" or "key", index from 0); None unpins it. A callback."""
    put(LIT, f"{token[0][0]}{token[1] + 1}" if token else ALL_LINES)


def where_in_the_model(kind: Choice, *, linked: bool = False) -> None:
    """Draw a small map of the model's layers, with the chosen one marked; a click chooses another.

    `kind` is the page's choice of a kind of attention. If `linked` is true, the browser marks the
    layer of the map that `selection` marks.
    """
    layer = None if chosen(LAYER) in SUMMARIES else chosen(LAYER)
    layers = {each: count for each, (count, _) in reader().shape.kinds.items()}
    picture = architecture_map(layers, labels=KINDS, kind=chosen(kind), layer=layer, linked=linked)
    with st.container(width=WIDTH):
        show(picture, KEY, partial(go_to_block, kind))


def go_to_block(kind: Choice) -> None:
    """Choose the kind of attention and the layer that were clicked; a callback."""
    there, layer = picked(KEY)
    if there != chosen(kind):
        put(LIT, "")
    put(kind, there)
    put(LAYER, layer)
