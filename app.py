"""Headlight opens on the Attention page: what every head looks at, on the visitor's sentence."""

from __future__ import annotations

import numpy as np
import streamlit as st

from model.trace import Kind, Trace
from pages.shared.controls.choose import (
    choose_head,
    choose_kind,
    choose_layer,
    choose_picture,
)
from pages.shared.controls.sentence import sentence_box, show_translation
from pages.shared.frame.frame import open_page
from pages.shared.frame.share import tour_link
from pages.shared.link import address
from pages.shared.runs.arrays import blocked_cells, one_head, tokens_of, weights_of
from pages.shared.runs.translator import traced, translated, translator
from pages.shared.show.captions import site_words
from pages.shared.show.cells import open_inside
from pages.shared.show.overview import all_heads, one_in_large, selection, with_summaries
from pages.shared.show.saving import about
from pages.shared.show.words import formula, reading_of
from pages.shared.state import models, scene

Cell = tuple[int, int]  # query and key, from 0


def open_map(layer: int, column: int) -> None:
    """Go to the layer and head of the clicked map."""
    st.session_state.layer = layer + 1
    st.session_state.head = scene.head_names(config.heads)[column]


def open_cell(weights: np.ndarray, kind: Kind, place: tuple[int, int], cell: Cell) -> None:
    """Take the weight of a clicked cell apart; of a mean or maximum, that of the strongest head."""
    layer, head = place
    if head >= config.heads:
        head = int(weights[layer][:, *cell].argmax())
    open_inside(kind, layer, head, *cell)


@address.fragment
def detail(trace: Trace, kind: Kind) -> None:
    """The choice of a head, and the head in large: apart, so that a choice draws it alone."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer = choose_layer(kind)
        picture = choose_picture()
    head = choose_head()
    place = layer - 1, scene.head_names(config.heads).index(head)
    selection(place, open_map)
    weights = weights_of(trace, kind)  # (layers, heads, query, key)
    one_in_large(
        one_head(weights[place[0]], head),
        *tokens_of(trace, kind),
        picture,
        save=site_words(kind, layer, head),
        blocked=blocked_cells(trace, kind),
        open_cell=lambda *cell: open_cell(weights, kind, place, cell),
    )
    st.caption(reading_of(kind, head, model.source, model.target))
    st.latex(formula(kind, config.head_width, model.source, model.target))
    address.publish()


@address.fragment
def attention(trace: Trace) -> None:
    """The choice of attention, all its heads, and one of them in large."""
    left, right = st.columns(2, gap="medium")
    with left:
        kind = choose_kind(label_visibility="collapsed")
        save = f"{scene.KINDS[kind]}, all heads"
        all_heads(with_summaries(weights_of(trace, kind)), *tokens_of(trace, kind), save=save)
    with right:
        detail(trace, kind)


open_page("Attention")
config, model = translator().model.config, models.chosen()
tour_link()
if sentence := sentence_box():
    about(sentence, target=translated(sentence).text)
    show_translation(translated(sentence))
    attention(traced(sentence))
