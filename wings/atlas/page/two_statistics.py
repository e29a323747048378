"""Any two statistics of all heads against each other, one point for each head."""

from math import isnan

import numpy as np
import streamlit as st

from headlight.model.edits import HeadAddress
from headlight.model.insight.correlation import rank_correlation
from headlight.pages.shared.controls.measure import selected_head, show_points
from headlight.pages.shared.runs.arrays import heads_of
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.show.words import capital
from headlight.pages.shared.state.choice import one_of
from headlight.pages.shared.state.choices import KINDS
from headlight.pages.shared.widgets.choose import choose
from headlight.viz import head_points, layer_colors
from headlight.viz.curves.position_lines import COLORS
from headlight.viz.numbers import number_text
from headlight.wings.atlas.files import Atlas
from headlight.wings.atlas.page.figures import (
    HeadFigure,
    about_corpus,
    all_figures,
    choose_statistic,
    define,
    name_selected,
    short,
    statistic,
)

ACROSS = statistic("atlas_across", "confidence", "Across")
UP = statistic("atlas_up", "importance", "Up")
COLOR = one_of("atlas_color", {"kind": "kind", "layer": "layer"}, label="Coloured by")
CHOICES = (ACROSS, UP, COLOR)
PICTURES = {"atlas-points": "two statistics of all heads"}
CORRELATION = (
    "Spearman’s rank correlation over these {count} heads: {value}, from −1 to +1. **encoder 2.5** "
    "is head 5 of layer 2. Click a point to select its head."
)


def draw(run: ModelRun, atlas: Atlas) -> None:
    """Draw the choice of two statistics, and a point for every head that has both."""
    figures = all_figures(atlas)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        across, up = choose_statistic(ACROSS, figures), choose_statistic(UP, figures)
        color = choose(COLOR)
    both = heads_of({kind: across.values[kind] for kind in across.values if kind in up.values})
    heads = [head for head in both if np.isfinite(pair(across, up, head)).all()]
    if not heads:
        st.info("No head has both of these statistics: choose another.")
        return
    numbers = np.array([pair(across, up, head) for head in heads])  # (heads, 2)
    layers = max(layer for _, layer, _ in heads) + 1
    by_layer = color == "layer"
    # Groups get their colours in the order in which they first occur.
    order = sorted(range(len(heads)), key=lambda at: heads[at][1] if by_layer else at)
    heads, numbers = [heads[at] for at in order], numbers[order]
    groups = [f"layer {head[1] + 1}" if by_layer else KINDS[head[0]] for head in heads]
    address = selected_head()
    picture = head_points(
        numbers[:, 0],
        numbers[:, 1],
        [short(head) for head in heads],
        axes=(across.title, up.title),
        units=(across.suffix, up.suffix),
        groups=groups,
        colors=layer_colors(layers) if by_layer else COLORS,
        named={at: short(heads[at]) for at in at_the_edges(numbers)}
        | ({heads.index(address): short(address)} if address in heads else {}),
        selected=heads.index(address) if address in heads else None,
    )
    name_selected(atlas)
    what = f"{capital(across.title)} and {up.title} of every head"
    show_points(picture, "atlas-points", heads, of=about_corpus(run, across, up), what=what)
    correlation = rank_correlation(*numbers.T)
    value = "there is none" if isnan(correlation) else number_text(correlation, 2, signed=True)
    caption(CORRELATION.format(count=len(heads), value=f"**{value}**"))
    for name in dict.fromkeys((across.name, up.name)):
        define(figures[name])


def pair(across: HeadFigure, up: HeadFigure, head: HeadAddress) -> tuple[float, float]:
    kind, *at = head
    return across.values[kind][*at], up.values[kind][*at]


def at_the_edges(numbers: np.ndarray) -> list[int]:
    """Return the indices of the points (N, 2) that are smallest or largest on either axis."""
    return list(dict.fromkeys([*numbers.argmax(axis=0).tolist(), *numbers.argmin(axis=0).tolist()]))
