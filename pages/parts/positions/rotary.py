"""The tab Rotary: how a model rotates queries and keys, and how a score depends on distance."""

import math

import numpy as np
import streamlit as st
from torch import Tensor

from headlight.model.insight.anatomy import Weight
from headlight.model.rotary import Rotary
from headlight.model.transformer.trace import Site
from headlight.pages.parts.positions.calls import turned
from headlight.pages.parts.positions.effects import Turning
from headlight.pages.parts.positions.position_clocks import position_clocks
from headlight.pages.parts.positions.tables import show_lines
from headlight.pages.parts.positions.words import ROTARY_FORMULA, ROTARY_WORDS
from headlight.pages.shared.address import section
from headlight.pages.shared.runs.arrays import as_array, tokens_of
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import caption, site_words
from headlight.pages.shared.show.cells import choose_clearest
from headlight.pages.shared.show.pictures import show, show_altair
from headlight.pages.shared.show.saving import About, about_run
from headlight.pages.shared.show.sight import parts
from headlight.pages.shared.state.choices import KEY, QUERY
from headlight.pages.shared.widgets.choose import (
    choose_head,
    choose_kind,
    choose_layer,
    choose_token,
)
from headlight.viz import Row, vector_rows, wavelengths

MOST_CLOCKS = 6  # at most this many pairs of dimensions are drawn as clocks
TURNS = 64  # the number of positions through which both hands move
PARTS = ("Frequencies", "A query and a key", "By distance")


@section
def rotary_section(run: ModelRun) -> None:
    """Draw the choice of a head, a query and a key, and everything about their rotation."""
    if not any(map(run.reader.rotary, run.reader.shape.sites)):
        is_other = "own layers" in run.reader.missing
        st.info(ROTARY_WORDS["none" if is_other else "added"])
        st.page_link("pages/models.py", label="Open a model that does")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = choose_kind()
        layer, head = choose_layer(kind), choose_head(kind)
        choose_clearest(run, Site(kind, layer), head)
        queries, keys = tokens_of(run.trace(), kind)
        query, key = (
            choose_token(choice, tokens, first=0)  # from 0, as positions count
            for choice, tokens in ((QUERY, queries), (KEY, keys))
        )
    site = Site(kind, layer)
    if run.reader.rotary(site) is None:
        st.info(ROTARY_WORDS["not this layer"])
        return
    turning = turned(Weight(run, site, head, query, key))
    where = f"{site_words(kind, layer, head)}, query at {query}, key at {key}"
    of = about_run(run, place=where)
    speeds, both, far = parts(PARTS)
    with speeds:
        frequencies(turning, len(queries), of)
    with both:
        query_and_key(turning, query, key, of)
    with far:
        by_distance(turning, query - key, of)


def frequencies(turning: Turning, positions: int, of: About) -> None:
    """Draw how fast each pair of dimensions turns, and the model's settings of this rotation."""
    rotary = turning.rotary
    st.latex(ROTARY_FORMULA)
    pair = "2i and 2i + 1" if rotary.interleaved else f"i and i + {rotary.width // 2}"
    width = len(turning.query)
    caption(ROTARY_WORDS["pairs"].format(turned=rotary.width, width=width, pair=pair))
    st.text("\n".join(f"{name}: {value}" for name, value in rotary.settings.items()))
    if not math.isclose(rotary.length, 1, rel_tol=1e-3):
        caption(ROTARY_WORDS["length"].format(length=rotary.length))
    lengths = 2 * math.pi / as_array(rotary.frequencies)
    chart = wavelengths(lengths, positions=positions, neighbours=rotary.interleaved)
    show_altair(chart, "rotary-wavelengths", of=of, what="Positions for a full turn of each pair")


def query_and_key(turning: Turning, query: int, key: int, of: About) -> None:
    """Draw a query and a key before and after rotation, and as the hands of clocks."""
    caption(ROTARY_WORDS["turned"])
    products = as_array(turning.turned_query * turning.turned_key)
    rows = [
        Row("query, as projected", as_array(turning.query)),
        Row("query, turned", as_array(turning.turned_query), note=f"by position {query}"),
        Row("key, as projected", as_array(turning.key)),
        Row("key, turned", as_array(turning.turned_key), note=f"by position {key}"),
        Row("query × key", products, total=float(products.sum(dtype=np.float64))),
    ]
    show(vector_rows(rows), "rotary-rows", of=of, what="A query and a key before and after")
    ends = sorted(
        [(key, "key", turning.key), (query, "query", turning.query)], key=lambda end: end[0]
    )
    (start, first, _), (end, later, _) = ends
    every = max(1, len(turning.rotary.frequencies) // MOST_CLOCKS)
    pairs = range(0, len(turning.rotary.frequencies), every)[:MOST_CLOCKS]
    steps = (
        np.arange(end - start + TURNS)[:, None] * as_array(turning.rotary.frequencies)[list(pairs)]
    )
    angles = [steps + angles_of(turning.rotary, states)[list(pairs)] for *_, states in ends]
    hands, ahead = (np.stack([np.sin(each), np.cos(each)], axis=-1) for each in angles)
    turns = (angles[1][end - start] - angles[0][0]) % (2 * math.pi)
    names = {"offset": end - start, "later": (first, later, ahead)}
    what = f"A query and a key as clocks, {end - start} apart"
    show(position_clocks(hands, pairs, turns, **names), "rotary-clocks", of=of, what=what)
    caption(ROTARY_WORDS["clocks"])


def angles_of(rotary: Rotary, states: Tensor) -> np.ndarray:
    """Return the angle of each pair of rotated dimensions of a query or key (D,): (R / 2,).

    The angles are in radians; R is how many of the D dimensions the model rotates.
    """
    first, second = np.moveaxis(as_array(rotary.pairs(states)), -1, 0)
    return np.arctan2(second, first)


def by_distance(turning: Turning, distance: int, of: About) -> None:
    """Draw the score of this query and key at every distance, and the mean over all pairs."""
    distances = turning.distances.tolist()
    at = distances.index(distance) if distance in distances else None
    if at is not None:
        st.metric(f"Score at their own distance, {distance}", f"{turning.scores[at]:.3f}")
    lines = {
        "this query and key": as_array(turning.scores),
        "mean of all visible pairs": as_array(turning.means),
    }
    what = "Score by how far the query is after the key"
    axes = {"x": "distance", "y": "score"}
    show_lines(lines, "rotary-distances", of=of, what=what, positions=distances, **axes)
    caption(ROTARY_WORDS["distance"])
