"""All heads: a map by one statistic, a table of all, and the loss as more heads are removed."""

from collections.abc import Mapping

import numpy as np
import streamlit as st

from headlight.model.edits import HeadAddress
from headlight.model.transformer.trace import Kind
from headlight.pages.shared.controls.measure import flat, selected_head, show_heads
from headlight.pages.shared.runs.arrays import heads_of
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import caption, site_words
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.saving import About
from headlight.pages.shared.show.words import capital
from headlight.pages.shared.state.choices import KINDS
from headlight.pages.shared.state.showing import say
from headlight.viz import CanvasPicture, head_effects, head_scores, training_curves
from headlight.viz.curves.training_curves import Curve
from headlight.viz.numbers import Numbers, number_text
from headlight.wings.atlas.files import Atlas
from headlight.wings.atlas.page.figures import (
    EFFECTS,
    HeadFigure,
    about_corpus,
    all_figures,
    choose_statistic,
    define,
    name_selected,
    short,
    statistic,
    table_of_heads,
)

STATISTIC = statistic("atlas_statistic", "previous token", "Statistic")
CHOICES = (STATISTIC,)
WHAT = {"atlas-map": "All heads by one statistic", "atlas-curve": "Heads removed one by one"}
PICTURES = {key: words[0].lower() + words[1:] for key, words in WHAT.items()}
TABLE = "atlas-table"
TABLE_WORDS = "Point at a column's title for what it means; the box left of a row selects its head."
CURVE = (
    "Heads are removed one after the other, the least important first. One curve orders them by "
    "the effect of removing each, the other by gradient importance, both measured on {found:,} "
    "{each}s of the text. **Loss**: {loss} ({measured:,} {each}s). Unit: {loss_unit}. "
    "{bleu}Source: {source}. Sentences seen in training are easier than others."
)


def draw(run: ModelRun, atlas: Atlas) -> None:
    """Draw the map of a statistic, the table of all heads, and the pruning curves."""
    figures = all_figures(atlas)
    figure = choose_statistic(STATISTIC, figures)
    define(figure)
    what = f"{capital(figure.title)} of every head"
    if np.isfinite(known := flat(figure.values)).any():
        head = heads_of(figure.values)[int(np.nanargmax(known))]
        value = number_text(float(np.nanmax(known)), 2)
        words = f"{site_words(*head)} has the largest mean of “{figure.title}”, {value}."
        say(words, "largest", numbers="Click a head.")
    name_selected(atlas)
    picture = map_of(figure, selected_head())
    show_heads(picture, "atlas-map", of=about_corpus(run, figure), what=what)
    st.subheader("All statistics")
    caption(TABLE_WORDS)
    all_statistics(atlas, figures, about_corpus(run, *figures.values()))
    if atlas.effects:
        st.subheader(WHAT["atlas-curve"])
        pruning(atlas.effects, about_corpus(run))


def map_of(figure: HeadFigure, head: HeadAddress) -> CanvasPicture:
    """Return the map of a statistic; the effect of removal has a colour for either sign."""
    if figure.name == "removal":
        return head_effects(
            figure.values,
            labels=KINDS,
            selected=head,
            measure=f"{figure.unit} lost",
            ends=("it was in the way", "it helped"),
            decimals=3,
        )
    known = flat(figure.values)
    limits = (np.nanmin(known), np.nanmax(known)) if np.isfinite(known).any() else (0, 1)
    return head_scores(
        figure.values,
        labels=KINDS,
        name=figure.title,
        unit=figure.suffix,
        limits=limits,
        selected=head,
    )


def all_statistics(atlas: Atlas, figures: Mapping[str, HeadFigure], of: About) -> None:
    """Draw the table of all heads with all figures; choosing a row selects its head."""
    heads = heads_of({kind: known.figures["entropy"].mean for kind, known in atlas.kinds.items()})
    patterns = [atlas.kinds[kind].clearest[layer][head] for kind, layer, head in heads]
    columns = {
        figure.title: [value_of(figure.values, head) for head in heads]
        for figure in figures.values()
    }
    config = {name: st.column_config.Column(pinned=True) for name in ("kind", "layer", "head")}
    for figure in figures.values():
        help = f"{capital(figure.words)}. Unit: {figure.unit}. {figure.source}."
        config[figure.title] = st.column_config.NumberColumn(format="%.3f", help=help)
    marks = {"head": [short(head) for head in heads], "figure": list(columns)}
    numbers = Numbers(np.array(list(columns.values())).T, marks)
    what, columns = "All figures of all heads", {"clearest pattern": patterns, **columns}
    table_of_heads(
        heads, columns, TABLE, {"figures": numbers}, of=of, what=what, column_config=config
    )


def value_of(values: Mapping[Kind, np.ndarray], head: HeadAddress) -> float:
    """Return a head's value of a statistic; NaN if its kind of attention has none."""
    kind, layer, number = head
    return float(values[kind][layer, number]) if kind in values else np.nan


def pruning(effects: dict, of: About) -> None:
    """Draw loss and BLEU as more and more heads are removed, in each of the two orders."""
    defined = {definition["name"]: definition for definition in effects["definitions"]}
    loss, bleu = defined["loss"], defined["BLEU"]
    runs = {
        f"by {EFFECTS[name]}": panels_of(curve, loss["unit"])
        for name, curve in effects["curves"].items()
    }
    picture = training_curves(runs, axis="heads removed", at=("with ", " heads removed"))
    show(picture, "atlas-curve", of=of, what=WHAT["atlas-curve"])
    has_bleu = any("BLEU" in curve for curve in effects["curves"].values())
    caption(
        CURVE.format(
            found=effects["tokens"],
            each=effects.get("each", "token"),
            measured=max(curve["tokens"] for curve in effects["curves"].values()),
            loss=loss["words"],
            loss_unit=loss["unit"],
            bleu=f"**BLEU**: {bleu['words']}, {bleu['unit']}. " if has_bleu else "",
            source=loss["source"],
        )
    )


def panels_of(curve: dict, unit: str) -> dict[str, Curve]:
    """Return the panels of a pruning curve: the loss, and BLEU if it was measured."""
    panels: dict[str, Curve] = {f"Loss, in {unit}": (range(len(curve["loss"])), curve["loss"])}
    if "BLEU" in curve:
        removed, scores = zip(*curve["BLEU"], strict=True)
        panels["BLEU"] = removed, scores
    return panels
