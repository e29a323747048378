"""The effect of every head and cell, estimated by one backward pass and measured by removal."""

from collections.abc import Mapping
from functools import partial
from math import isnan

import numpy as np
import streamlit as st

from headlight.model.edits import HeadAddress
from headlight.model.insight.ablation import NOTHING_TO_MEASURE
from headlight.model.insight.correlation import rank_correlation
from headlight.model.transformer.trace import Kind, Site
from headlight.pages.shared.controls.measure import (
    MEASURED,
    Measurement,
    choose_measured,
    flat,
    selected_among,
    show_heads,
    show_points,
    words_of_effects,
)
from headlight.pages.shared.runs.arrays import heads_of
from headlight.pages.shared.runs.heads import (
    Closings,
    Effects,
    closed_cells,
    cost_of_removals,
    estimated_effects,
    gaps_of,
    removal_effects,
)
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import caption, labels_of, site_words
from headlight.pages.shared.show.cells import follow, if_taken_apart, open_inside
from headlight.pages.shared.show.pictures import picked, show
from headlight.pages.shared.show.riddle import least_without, told_apart
from headlight.pages.shared.show.saving import About, about_run
from headlight.pages.shared.show.sight import reveal_if_sought
from headlight.pages.shared.state.choices import KINDS
from headlight.pages.shared.state.showing import NOTE, place
from headlight.viz import effect_points, head_effects
from headlight.viz.numbers import number_text

TITLE = "Quick estimate"
CHOICES = (MEASURED,)
WHAT = {
    "estimate-heads": "Estimated and true effect of each head",
    "estimate-map": "Effect of each head, estimated",
    "estimate-cells": "Estimated and true effect of cells",
}
PICTURES = {key: words[0].lower() + words[1:] for key, words in WHAT.items()}
DETAIL = "estimate-detail"  # the key of the part that shows the selected head
SHORT: dict[Kind, str] = {"encoder": "enc", "decoder": "dec", "cross": "cross"}
UNASKED = 6_000  # up to this many tokens, in all runs together, measuring needs no button
MOST_CELLS = 120  # cells of a head that are measured
MOST_NAMED = 5  # points that have a name: those furthest from the line
LEAST_NAMED = 0.02  # share of the largest effect; points closer to the line have no name
NOTHING = 1e-3  # nats, or units of a score: smaller effects are invisible on screen

INTRO = (
    "One backward pass estimates what removing each head would take a run for: the gradient with "
    "respect to its [gate], times the change of the gate to 0. This is attribution patching (Nanda "
    "2023, Syed et al. 2023) with zeros in place of the head; its absolute value is the importance "
    "of Michel et al. 2019. It is exact for small changes only. Below 0 the head raised {measure}."
)
WHY = (
    "Why the effect differs from its estimate, in {unit}, found by two more removals of each head. "
    "**Output**: the softmax of the output is not linear. **Attention**: nor is the softmax of "
    "later heads; held weights remove this part. **Rest**: norms and feed-forward layers. "
    "These three sum to the gap. **Sharpness**, the mean of the largest weights of the head’s "
    "rows, need not be the cause."
)
CELLS = (
    "Closing a cell redistributes its [weight] over the row. This is computed exactly; its effect "
    "on the output is estimated by the gradient. {count}"
)
SOME = (
    "Of {open} open cells {count} are measured, in even steps from the largest estimate to the "
    "smallest."
)
EVERY = "All {open} open cells are measured."
TO_CELL = " Click a point to take its weight apart."
TRUTH = Measurement(
    removal_effects, (*WHAT,), "Measure every head", "Removing one head after the other", UNASKED
)
CLOSINGS = Measurement(
    closed_cells, ("estimate-cells",), "Measure its cells", "Closing cell after cell", UNASKED
)


def outliers(true: np.ndarray, estimated: np.ndarray) -> list[int]:
    """Return the indices of the effects that are far from their estimates, the furthest first."""
    apart = np.abs(true - estimated)
    far = max(NOTHING, LEAST_NAMED * np.abs([true, estimated]).max(initial=0))
    places = np.argsort(-apart, kind="stable")[:MOST_NAMED].tolist()
    return [index for index in places if apart[index] > far]


def correlation(true: np.ndarray, estimated: np.ndarray) -> None:
    rank = rank_correlation(estimated, true)
    value = "–" if isnan(rank) else number_text(rank, 2, signed=True)
    st.metric("Rank correlation", value, help="Spearman’s: 1 if the order is the same.")


def all_heads(
    estimated: Mapping[Kind, np.ndarray], true: Effects, selected: HeadAddress, unit: str, of: About
) -> list[int]:
    """Draw a point for every head; return the indices of those that have a name."""
    heads, effects, guesses = heads_of(estimated), flat(true), flat(estimated)
    named = outliers(effects, guesses)
    picture = effect_points(
        effects,
        guesses,
        [site_words(*head) for head in heads],
        groups=[KINDS[kind] for kind, *_ in heads],
        named={at: short(heads[at]) for at in named},
        unit=unit,
        selected=heads.index(selected),
        clickable=True,
    )
    show_points(picture, "estimate-heads", heads, DETAIL, of=of, what=WHAT["estimate-heads"])
    return named


def short(head: HeadAddress) -> str:
    kind, layer, number = head
    return f"{SHORT[kind]} L{layer + 1} H{number + 1}"


def why(
    run: ModelRun, on: int | None, heads: list[HeadAddress], numbers: np.ndarray, unit: str
) -> None:
    """Draw the table of the heads furthest from the line, with the cause of each distance.

    `numbers` are the true and the estimated effects of all heads (2, N).
    """
    if not heads:
        return
    rows = ["| Head | Estimated | True | Output | Attention | Rest | Sharpness |"]
    rows.append("|:--" + "|--:" * 6 + "|")
    for head, gap, true, guess in zip(heads, gaps_of(run, on, tuple(heads)), *numbers, strict=True):
        parts = [number_text(part, signed=True) for part in gap[:3]]
        largest = int(np.argmax(np.abs(gap[:3])))
        parts[largest] = f"**{parts[largest]}**"
        effects = [number_text(value, signed=True) for value in (guess, true)]
        name, sharpness = short(head).replace(" ", "\u00a0"), number_text(gap.sharpness, 2)
        cells = [name, *effects, *parts, sharpness]
        rows.append(f"| {' | '.join(cells)} |")
    st.markdown("**Furthest from the line**")
    st.markdown("\n".join(rows))
    caption(WHY.format(unit=unit))


def cells_of_head(run: ModelRun, on: int | None, head: HeadAddress, unit: str, of: About) -> None:
    """Draw a point for every measured cell of a head, and list those furthest from the line."""
    kind, layer, _ = head
    words = site_words(*head)
    reveal_if_sought(DETAIL)
    st.subheader(words)
    site = Site(kind, layer)
    cells = len(run.tokens().query_tokens(site)) * len(run.tokens().key_tokens(site))
    cost = cost_of_removals(run) | {"runs": min(cells, MOST_CELLS)}
    if not CLOSINGS.is_asked(run, on, head, MOST_CELLS, **cost):
        return
    closings = closed_cells(run, on, head, MOST_CELLS)
    if not closings.cells:
        st.info("Every cell of this head is closed.")
        return
    queries, keys = map(told_apart, labels_of(run, kind))
    names = [f"{queries[query]} looks at {keys[key]}" for query, key in closings.cells]
    named = outliers(closings.true, closings.estimated)

    def open_point() -> None:
        if (at := picked("estimate-cells")) < len(closings.cells):  # else the text has changed
            open_inside(*head, *closings.cells[at], target=run.target)

    opens = if_taken_apart(run, lambda query, key: None)
    picture = effect_points(
        closings.true,
        closings.estimated,
        [
            f"{name}, weight {number_text(at)}"
            for name, at in zip(names, closings.weights, strict=True)
        ],
        named={at: names[at].replace(" looks at ", " → ") for at in named},
        unit=unit,
        clickable=opens is not None,
    )
    left, right = st.columns([3, 2], gap="medium")
    with left:
        what = f"{WHAT['estimate-cells']}: {words}"
        show(picture, "estimate-cells", opens and open_point, of=of, what=what)
        count = SOME if len(closings.cells) < closings.open else EVERY
        count = count.format(open=closings.open, count=len(closings.cells))
        caption(CELLS.format(count=count) + (TO_CELL if opens else ""))
    with right:
        correlation(closings.true, closings.estimated)
        furthest_cells(closings, names, named, unit)
    follow()


def furthest_cells(closings: Closings, names: list[str], named: list[int], unit: str) -> None:
    """Draw the list of the cells furthest from the line."""
    st.markdown("**Furthest from the line**")
    lines = [
        f"{names[at]}: estimated {number_text(closings.estimated[at], signed=True)}, "
        f"true {number_text(closings.true[at], signed=True)} {unit}; "
        f"weight {number_text(closings.weights[at])}{largest_beside(closings, at)}"
        for at in named
    ]
    st.text("\n\n".join(lines) or "No cell is far from the line.")


def largest_beside(closings: Closings, at: int) -> str:
    """Return in words the largest weight of a cell's row, or that the cell's own is the largest."""
    largest = closings.largest[at]
    is_own = largest == closings.weights[at]
    return ", the largest of its row" if is_own else f", in its row up to {number_text(largest)}"


def draw(run: ModelRun) -> None:
    """Draw the estimates of all heads against the true effects, and those of a head's cells."""
    if (objective := run.objective()) is None:
        with place(NOTE):
            st.info(NOTHING_TO_MEASURE)
        return
    options = st.container(horizontal=True, vertical_alignment="bottom")
    with options:
        on = choose_measured(run)
    measure = (objective if on is None else objective.only(on)).description
    unit = objective.unit
    caption(INTRO.format(measure=measure))
    try:
        estimated = estimated_effects(run, on)
    except ValueError as error:
        with place(NOTE):
            st.text(str(error))
        return
    with options:
        is_asked = TRUTH.is_asked(run, on, **cost_of_removals(run))
        true = TRUTH.measure(run, on) if is_asked else None
    of = about_run(run)
    heads, guesses = heads_of(estimated), flat(estimated)
    apart = guesses if true is None else flat(true) - guesses
    head = selected_among(heads, np.abs(apart))
    left, right = st.columns(2, gap="medium")
    with left if true is None else right:
        st.markdown(f"**{WHAT['estimate-map']}**")
        picture = head_effects(estimated, selected=head, **words_of_effects(objective))
        effects, how = (estimated, "by the estimate") if true is None else (true, "in truth")
        ask = partial(least_without, effects, measure, f"{unit} {how}")
        options = {"riddle": ask, "riddle_of": ("estimate-heads", "estimate-cells")}
        what = WHAT["estimate-map"]
        if not show_heads(picture, "estimate-map", DETAIL, of=of, what=what, **options):
            return
    if true is not None:
        with left:
            st.markdown(f"**{WHAT['estimate-heads']}**")
            named = all_heads(estimated, true, head, unit, of)
            correlation(flat(true), guesses)
        numbers = np.stack([flat(true), guesses])[:, named]
        why(run, on, [heads[at] for at in named], numbers, unit)
    with st.container(key=DETAIL):
        cells_of_head(run, on, head, unit, of)
