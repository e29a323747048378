"""Attention: what every head looks at, on the visitor's sentence."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from model.trace import Kind, Trace
from pages.shared.controls.sentence import sentence_box, show_translation
from pages.shared.link.address import section
from pages.shared.runs.arrays import blocked_cells, one_head, tokens_of, weights_of
from pages.shared.runs.translator import TranslatorRun, translated, translator
from pages.shared.show.captions import site_words
from pages.shared.show.cells import open_inside
from pages.shared.show.overview import (
    all_heads,
    one_in_large,
    selection,
    with_summaries,
)
from pages.shared.show.saving import About, about
from pages.shared.show.words import formula, reading_of
from pages.shared.state import models
from pages.shared.state.choices import HEAD, KINDS, LAYER, OWN_SCALE, PICTURE, put
from pages.shared.state.page import Page
from pages.shared.widgets.choose import (
    choose,
    choose_head,
    choose_kind,
    choose_layer,
    head_options,
)


def open_map(layer: int, column: int) -> None:
    """Choose the layer and head of the clicked map."""
    put(LAYER, layer)
    put(HEAD, head_options(translator().model.config.heads)[column])


def open_cell(
    weights: np.ndarray, kind: Kind, layer: int, column: int, query: int, key: int
) -> None:
    """Take the weight of a clicked cell apart; of a mean or maximum, that of the strongest head."""
    heads = weights[layer]  # (head, query, key)
    head = column if column < len(heads) else int(heads[:, query, key].argmax())
    open_inside(kind, layer, head, query, key)


@section
def detail(trace: Trace, kind: Kind, of: About) -> None:
    """Draw the choice of a head and the head in large: apart, so that a choice draws it alone."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer = choose_layer(kind)
        picture = choose(PICTURE)
    head = choose_head()
    model, config = models.chosen(), translator().model.config
    place = layer, head_options(config.heads).index(head)
    selection(place, open_map)
    weights = weights_of(trace, kind)  # (layers, heads, query, key)
    shown, what = one_head(weights[layer], head), site_words(kind, layer, head)
    cells = {
        "blocked": blocked_cells(trace, kind),
        "open_cell": partial(open_cell, weights, kind, *place),
    }
    one_in_large(shown, *tokens_of(trace, kind), picture, of=of, what=what, **cells)
    st.caption(reading_of(kind, head, model.source, model.target))
    st.latex(formula(kind, config.head_width, model.source, model.target))


@section
def heads(trace: Trace, of: About) -> None:
    """Draw the choice of attention, all its heads, and one of them in large."""
    left, right = st.columns(2, gap="medium")
    with left:
        kind = choose_kind(label_visibility="collapsed")
        maps, what = with_summaries(weights_of(trace, kind)), f"{KINDS[kind]}, all heads"
        all_heads(maps, *tokens_of(trace, kind), of=of, what=what)
    with right:
        detail(trace, kind, of)


def attention() -> None:
    """Draw the page."""
    if sentence := sentence_box():
        of = about(sentence, target=translated(sentence).text)
        show_translation(translated(sentence), of)
        heads(TranslatorRun(sentence).trace, of)


ATTENTION = Page(
    key="attention",
    title="Attention",
    purpose="What every head looks at, on your sentence",
    body=attention,
    choices=(PICTURE, OWN_SCALE),
    pictures={
        "source": "the source's tokens",
        "target": "the translation and its tokens",
        "grid": "all heads",
        "heatmap": "one head as a heatmap",
        "lines": "one head as lines",
    },
    first=PICTURE,
)
