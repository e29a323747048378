"""Headlight opens on the Attention page: what every head looks at, on the visitor's sentence."""

from __future__ import annotations

import numpy as np
import streamlit as st

from model.trace import Kind, Trace
from pages.shared import address, models, scene
from pages.shared.cells import attention_map, open_inside
from pages.shared.controls import choose_head, choose_kind, choose_layer
from pages.shared.frame import open_page
from pages.shared.loading import (
    blocked_cells,
    tokens_of,
    traced,
    translated,
    translator,
    weights_of,
)
from pages.shared.pictures import picked, show
from pages.shared.sentence import sentence_box, show_translation
from pages.shared.share import tour_link
from pages.shared.words import HOW_TO_READ, formula, reading_of
from viz import attention_heatmap, attention_lines, head_grid

Cell = tuple[int, int]  # query and key, from 0


def open_map() -> None:
    """Go to the layer and head of the clicked map."""
    layer, column = picked("grid")
    st.session_state.layer = layer + 1
    st.session_state.head = scene.head_names(translator().model.config.heads)[column]


def open_cell(weights: np.ndarray, kind: Kind, place: tuple[int, int], cell: Cell) -> None:
    """Take the weight of a clicked cell apart; of a mean or maximum, that of the strongest head."""
    layer, head = place
    if head >= weights.shape[1]:
        head = int(weights[layer][:, *cell].argmax())
    open_inside(kind, layer, head, *cell)


@st.fragment
def attention(trace: Trace) -> None:
    """The choice of attention, all its heads, and the chosen one in large."""
    config, model = translator().model.config, models.chosen()
    overview, detail = st.columns(2, gap="medium")
    with overview:
        kind = choose_kind(label_visibility="collapsed")
    weights = weights_of(trace, kind)  # (layers, heads, query, key)
    summaries = np.stack([weights.mean(axis=1), weights.max(axis=1)], axis=1)
    maps = np.concatenate([weights, summaries], axis=1)  # (layers, heads + 2, query, key)
    heads = scene.head_names(config.heads)
    query_tokens, key_tokens = tokens_of(trace, kind)

    own_scale = st.session_state.get("own_scale", False)
    with detail:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            layer = choose_layer(kind)
            picture = st.segmented_control(
                "Picture", scene.PICTURES, key="picture", format_func=str.title, required=True
            )
        head = choose_head()
        place = layer - 1, heads.index(head)
        chosen = maps[place]
        if picture == "heatmap":
            blocked = blocked_cells(trace, kind)
            maximum = None if own_scale else 1.0
            figure = attention_heatmap(
                chosen, query_tokens, key_tokens, maximum=maximum, blocked=blocked, clickable=True
            )
            attention_map(figure, "heatmap", lambda *cell: open_cell(weights, kind, place, cell))
        else:
            show(attention_lines(chosen, query_tokens, key_tokens), "lines")
        st.caption(HOW_TO_READ[picture])
        st.caption(reading_of(kind, head, model.source, model.target))
        st.latex(formula(kind, config.head_width, model.source, model.target))
    with overview:
        st.markdown("**All heads**: layers down, heads across. Click one to open it.")
        grid = head_grid(
            maps,
            query_tokens,
            key_tokens,
            column_labels=[name if name in scene.SUMMARIES else f"head {name}" for name in heads],
            selected=place,
            own_scale=own_scale,
        )
        show(grid, "grid", open_map)
        st.toggle(
            "Brighten each map to its own largest weight",
            key="own_scale",
            help="Good for long sentences. Off, all maps share one scale from 0 to 1, so that "
            "they can be compared.",
        )
        st.caption(HOW_TO_READ["grid"])
    address.publish()


open_page("Attention")
tour_link()
if sentence := sentence_box():
    show_translation(translated(sentence))
    attention(traced(sentence))
