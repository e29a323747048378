"""The card of a head: what it does over the corpus, and how this sentence compares."""

from dataclasses import replace
from math import isnan

import numpy as np
import streamlit as st

from model.atlas.figures import BY_NAME, Standing, standing
from model.atlas.files import Atlas, KindOfHeads
from model.atlas.statistics import POSITIONAL, Statistic
from model.edits import HeadAddress
from pages.parts.atlas import examples
from pages.parts.atlas.figures import (
    EFFECTS,
    Shown,
    about_corpus,
    all_figures,
    capital,
    neighbours,
)
from pages.shared.runs.atlas import sentence_figures, shown_text
from pages.shared.runs.run import ModelRun
from pages.shared.show.captions import site_words
from pages.shared.show.glossary import caption
from pages.shared.show.pictures import show
from pages.shared.show.saving import about_run
from pages.shared.widgets.choose import choose_head, choose_kind, choose_layer
from viz import Spread, distributions, measure_bars
from viz.numbers import number_text

CHOICES = examples.CHOICES
PICTURES = {
    "atlas-card": "a head’s figures, with this sentence",
    "atlas-offsets": "where a head’s largest weight is",
    **examples.PICTURES,
}
NEIGHBOURS = 5
SMALL = 0.001  # share
CARD = (
    "Usually: over the sentences of the corpus, each by the mean of its rows, in the mean ± "
    "standard deviation; grey is how they are spread. The mark is your sentence, measured in the "
    "same way. In colour is what is more than 2 standard deviations from the mean, or as far out "
    "on its side as at most 2.5 % of the sentences. What only the whole corpus has is without ±."
)
OFFSETS = (
    "How often the largest weight of a row is so many tokens before or after its query, of the "
    "rows that have a token there. From {least:.0f} % at one of them on the head is called "
    "positional (Voita et al. 2019, 5.1)."
)


def draw(run: ModelRun, atlas: Atlas) -> None:
    """Draw the choice of a head, its figures, and its example sentences."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        kind = choose_kind()
        layer, head = choose_layer(kind), choose_head(kind, summaries=False)
    place, known, figures = (kind, layer, head), atlas.kinds[kind], all_figures(atlas)
    words = site_words(*place)
    st.subheader(words)
    st.markdown("\n".join(f"- {line}" for line in in_words(place, known, figures)))
    of = replace(about_run(run, place=words), told=f"Over {shown_text(run.model)}")
    left, right = st.columns([3, 2], gap="medium") if known.shares is not None else (st, None)
    with left if right else st.container():
        caption(CARD)
        try:
            own = sentence_figures(run)[kind]
        except ValueError as error:
            st.text(str(error))
            own = {}
        spreads = [
            spread_of(one, known, own, place) for one in figures.values() if kind in one.values
        ]
        picture = distributions([spread for spread in spreads if spread])
        show(picture, "atlas-card", of=of, what="Figures of a head, and of this sentence")
    if right:
        with right:
            offsets(known, place, run)
    examples.draw(run, atlas, place)


def in_words(place: HeadAddress, known: KindOfHeads, figures: dict[str, Shown]) -> list[str]:
    """Return sentences on a head: its figures, the effect of removing it, and similar heads."""
    kind, layer, head = place
    pattern = known.clearest[layer][head]
    mean = known.figures[pattern].mean[layer, head]
    said = [f"Clearest pattern: **{pattern}**, {number_text(mean, 2)} over all rows."]
    for name, title in EFFECTS.items():
        if name in figures:
            value = figures[name].values[kind][layer, head]
            signed = number_text(value, signed=name == "removal")
            said.append(
                f"{capital(title)}: **{signed}** {figures[name].unit}, "
                f"{rank(figures[name], value)}."
            )
    if len(known.distances) > 1:
        names = neighbours(known, place, NEIGHBOURS)
        said.append(f"Nearest heads, in nats of Jensen-Shannon divergence: {', '.join(names)}.")
    return said


def rank(one: Shown, value: float) -> str:
    """Return the rank of a value among those of all heads, the largest first."""
    known = np.concatenate([values.ravel() for values in one.values.values()])
    return f"rank {int((known > value).sum()) + 1} of {len(known)} heads"


def spread_of(one: Shown, known: KindOfHeads, own: dict, place: HeadAddress) -> Spread | None:
    """Return a figure of a head with its spread over sentences, and its value on this sentence."""
    at = place[1:]
    if one.name in EFFECTS:
        return None
    unit = f" {one.beside}".rstrip()
    figure, here = known.figures[one.name], float(own[one.name][*at]) if one.name in own else np.nan
    said = "" if isnan(here) else f"on your sentence {number_text(here)}"
    if figure.bins is None or isnan(figure.of_sentences[*at]):
        return Spread(one.title, f"overall {number_text(figure.mean[*at])}{unit}", said=said)
    mean, deviation = figure.of_sentences[*at], figure.deviation[*at]
    usual = f"usually {number_text(mean)} ± {number_text(deviation)}{unit}"
    bins, statistic = figure.bins[*at], BY_NAME[one.name]
    if isnan(here):
        return Spread(one.title, usual, *trimmed(bins, statistic))
    found = standing(here, mean, deviation, bins, statistic)
    return Spread(
        one.title,
        usual,
        *trimmed(bins, statistic, here),
        here=here,
        said=f"{said}{how_far(found, above=here >= mean)}",
        far=found.is_far or found.is_rare,
    )


def trimmed(
    bins: np.ndarray, statistic: Statistic, here: float | None = None
) -> tuple[np.ndarray | None, float, float]:
    """Return the bins from the first to the last with sentences, and where they begin and end.

    For shares they are all bins. The bin of this sentence's value, `here`, is included. A single
    bin shows nothing, and None replaces it.
    """
    low, high = statistic.low, statistic.high
    if statistic.unit == "share":
        return bins, low, high
    width = (high - low) / len(bins)
    filled = np.flatnonzero(bins).tolist()
    if here is not None:
        filled.append(min(max(int((here - low) / width), 0), len(bins) - 1))
    first, last = min(filled), max(filled) + 1
    shown = bins[first:last] if last - first > 1 else None
    return shown, low + first * width, low + last * width


def how_far(found: Standing, above: bool) -> str:
    """Return in words how far a sentence is from the others; empty if it is not far."""
    said = []
    if found.is_far:
        said.append(f"{abs(found.deviations):.1f} deviations {'above' if above else 'below'}")
    if found.is_rare:
        share = number_text(100 * max(found.tail, SMALL), 1)
        who = "no sentence has" if found.tail == 0 else f"{share} % of the sentences have"
        said.append(f"{who} {'as much' if above else 'as little'}")
    return f": {'; '.join(said)}" if said else ""


def offsets(known: KindOfHeads, place: HeadAddress, run: ModelRun) -> None:
    """Draw how often the largest weight of a row is at each distance from the query."""
    kind, layer, head = place
    seen = {
        distance: float(share)
        for distance, share in zip(known.offsets, known.shares[layer, head], strict=True)
        if kind == "encoder" or distance <= 0
    }
    st.markdown("**Where its largest weight is**")
    named = {offset_words(distance): share for distance, share in seen.items()}
    picture = measure_bars({"share of rows": named}, dict.fromkeys(named, 1.0))
    of = about_corpus(run, site_words(*place))
    show(picture, "atlas-offsets", of=of, what="Where the largest weight of a row is")
    caption(OFFSETS.format(least=100 * POSITIONAL))


def offset_words(distance: int) -> str:
    if distance == 0:
        return "on itself"
    return f"{abs(distance)} {'before' if distance < 0 else 'after'}"
