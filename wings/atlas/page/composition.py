"""Which heads feed one another, by their weights only."""

from functools import partial

import numpy as np
import streamlit as st

from headlight.model.edits import HeadAddress
from headlight.model.transformer.trace import Kind, Site
from headlight.pages.shared.controls.measure import show_heads
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import caption, site_words
from headlight.pages.shared.show.pictures import show_table
from headlight.pages.shared.show.riddle import which_head
from headlight.pages.shared.show.saving import About
from headlight.pages.shared.state.choice import one_of
from headlight.pages.shared.state.choices import KINDS
from headlight.pages.shared.widgets.choose import choose
from headlight.viz import head_effects
from headlight.viz.numbers import Numbers, number_text
from headlight.wings.atlas.circuit_calls import Compositions, all_compositions
from headlight.wings.atlas.circuits import WAYS, Random, Way
from headlight.wings.atlas.page.figures import short

WAY = one_of("circuit_way", {way: way for way in WAYS}, "value", label="Read as")
MOST_PAIRS = 20  # the number of pairs of heads in the table
PICTURE, WHAT = "circuit-feeds", "Which heads feed one another, by weights only"
FEEDS = (
    "**Composition**: how much a later head reads, as query, key or value, of what an earlier head "
    "writes: the norm of the product of their matrices, divided by the norms of both (Frobenius; "
    "Elhage et al. 2021). Heads of this size with random weights have {mean} ± {deviation} %; the "
    "map shows what is above or below that mean. Heads before {head} feed it, those after it are "
    "fed by it."
)


def feeding(run: ModelRun, head: HeadAddress, of: About) -> None:
    """Draw which heads a head is composed with, and the strongest pairs of heads of all."""
    all_pairs, random = all_compositions(run.model, run.loading)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{WHAT}**", width="content")
        way = choose(WAY)
    above = around(run, head, way, all_pairs, random)
    if any(np.isfinite(numbers).any() for numbers in above.values()):
        picture = head_effects(
            above,
            labels=KINDS,
            selected=head,
            measure="% against random weights",
            ends=("less than by chance", "more than by chance"),
            absent="not composed in this way",
        )
        asks = f"Which head is composed most with {site_words(*head)}, as {way}?"
        ask = partial(which_head, asks, "most composed with it is", above, percent)
        if not show_heads(picture, PICTURE, of=of, what=WHAT, riddle=ask):
            return
    else:
        st.info(f"No other head is composed with this one as {way}.")
    strongest_table(all_pairs, random, of)
    numbers = {"mean": 100 * random.mean, "deviation": 100 * random.deviation}
    written = {name: number_text(value, 2) for name, value in numbers.items()}
    caption(FEEDS.format(head=site_words(*head), **written))


def percent(number: float) -> str:
    return "none" if np.isnan(number) else f"{number_text(number, 1, signed=True)} %"


def around(
    run: ModelRun, head: HeadAddress, way: Way, all_pairs: Compositions, random: Random
) -> dict[Kind, np.ndarray]:
    """Return each head's composition with `head`, in % above random heads; NaN if there is none."""
    site, number = Site(*head[:2]), head[2]
    above: dict[Kind, np.ndarray] = {
        kind: np.full(size, np.nan) for kind, size in run.reader.shape.kinds.items()
    }
    for (earlier, later, as_way), numbers in all_pairs.items():
        if as_way == way and later == site:
            above[earlier.kind][earlier.layer] = 100 * (numbers[:, number] - random.mean)
        elif as_way == way and earlier == site:
            above[later.kind][later.layer] = 100 * (numbers[number] - random.mean)
    return {
        kind: numbers
        for kind, numbers in above.items()
        if kind == head[0] or np.isfinite(numbers).any()
    }


def strongest_table(all_pairs: Compositions, random: Random, of: About) -> None:
    """Draw the pairs of heads with the largest composition, as query, key or value."""
    import pandas as pd  # not at the top of the file: pandas is slow to import

    every = [
        (float(number), (earlier, row), (later, column), way)
        for (earlier, later, way), numbers in all_pairs.items()
        for (row, column), number in np.ndenumerate(numbers)
    ]
    best = sorted(every, key=lambda pair: -pair[0])[:MOST_PAIRS]
    columns = {
        "writes": [short((site.kind, site.layer, head)) for _, (site, head), _, _ in best],
        "reads": [short((site.kind, site.layer, head)) for _, _, (site, head), _ in best],
        "as": [way for *_, way in best],
        "%": [100 * number for number, *_ in best],
        "deviations above random": [(pair[0] - random.mean) / random.deviation for pair in best],
    }
    values = np.array(columns["%"], np.float32)
    axis = [f"{columns['writes'][at]} → {columns['reads'][at]}" for at in range(len(best))]
    show_table(
        pd.DataFrame(columns),
        "circuit-pairs",
        {"composition in %": Numbers(values, {"pair": axis})},
        of=of,
        what="The heads that are composed most",
        hide_index=True,
        height=240,
        column_config={
            "%": st.column_config.NumberColumn(format="%.2f"),
            "deviations above random": st.column_config.NumberColumn(format="%.0f"),
        },
    )
