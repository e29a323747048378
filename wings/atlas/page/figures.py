"""The figures of an atlas for its page: all heads' values of each statistic, and tables."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import streamlit as st

from headlight.model.edits import HeadAddress
from headlight.model.transformer.trace import Kind
from headlight.pages.shared.controls.measure import selected_head
from headlight.pages.shared.runs.arrays import heads_of
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import caption, site_words
from headlight.pages.shared.show.pictures import show_table
from headlight.pages.shared.show.saving import About, about
from headlight.pages.shared.show.words import capital
from headlight.pages.shared.state.choice import Choice, one_of
from headlight.pages.shared.state.choices import KINDS, put, select_head
from headlight.pages.shared.widgets.choose import choose
from headlight.viz.numbers import Numbers, number_text
from headlight.wings.atlas.calls import shown_text
from headlight.wings.atlas.figures import nearest
from headlight.wings.atlas.files import Atlas, KindOfHeads
from headlight.wings.atlas.pronouns import PRONOUN
from headlight.wings.atlas.statistics import ALL

EFFECTS = {"removal": "effect of removal", "importance": "gradient importance"}
TITLES = {statistic.name: statistic.name for statistic in (*ALL, PRONOUN)} | EFFECTS
TAB = one_of(
    "atlas_tab",
    {
        "heads": "All heads",
        "two": "Two statistics",
        "likeness": "Likeness",
        "head": "A head",
        "weights": "By its weights only",
        "search": "Search",
    },
    label="What is shown",
)


class HeadFigure(NamedTuple):
    """One statistic's values for all heads, (layers, heads) by kind, with definition and source."""

    name: str
    words: str
    unit: str
    source: str
    values: Mapping[Kind, np.ndarray]
    lacking: Collection[Kind]  # kinds of attention without this figure

    @property
    def title(self) -> str:
        return TITLES[self.name]

    @property
    def suffix(self) -> str:
        """The unit to write after a number; empty for shares."""
        return "" if self.unit == "share" else self.unit


def all_figures(atlas: Atlas) -> dict[str, HeadFigure]:
    """Return all figures that an atlas has, by the name of the statistic."""
    figures = {}
    for definition in (*atlas.statistics, *(atlas.effects["definitions"] if atlas.effects else ())):
        there: dict[Kind, np.ndarray] = {
            kind: figure
            for kind, known in atlas.kinds.items()
            if (figure := figure_of(known, definition["name"])) is not None
        }
        if definition["name"] in TITLES and there:
            parts = ("name", "words", "unit", "source")
            name, words, unit, source = (definition[part] for part in parts)
            lacking = atlas.kinds.keys() - there.keys()
            figures[name] = HeadFigure(name, words, unit, source, there, lacking)
    return figures


def figure_of(known: KindOfHeads, name: str) -> np.ndarray | None:
    """Return a figure of all heads of a kind, None if the kind has no such figure."""
    if name in EFFECTS:
        return getattr(known, name)
    return known.figures[name].mean if name in known.figures else None


def statistic(key: str, default: str, label: str) -> Choice:
    options = {name: capital(title) for name, title in TITLES.items()}
    return one_of(key, options, default, label=label)


def choose_statistic(choice: Choice, figures: Mapping[str, HeadFigure]) -> HeadFigure:
    return figures[choose(choice, figures, widget=st.selectbox, width=260)]


def define(figure: HeadFigure) -> None:
    """Draw the definition of a statistic, its unit and source, and the kinds that lack it."""
    names = [KINDS[kind].partition(",")[0].lower() for kind in KINDS if kind in figure.lacking]
    source = f"Unit: {figure.unit}. Source: {figure.source}."
    without = f" Not for {' and '.join(names)} heads." if names else ""
    caption(f"**{capital(figure.title)}**: {figure.words}. {source}{without}")


def short(head: HeadAddress) -> str:
    """Return the short name of a head, such as encoder 2.5: layer 2, head 5."""
    kind, layer, number = head
    return f"{kind} {layer + 1}.{number + 1}"


def neighbours(known: KindOfHeads, head: HeadAddress, count: int) -> list[str]:
    """Return the `count` nearest heads of the same kind, each with its distance in nats."""
    heads = heads_of({head[0]: known.figures["entropy"].mean})
    at = heads.index(head)
    return [
        f"{short(heads[other])} ({number_text(known.distances[at, other])})"
        for other in nearest(known.distances, at, count)
    ]


def about_corpus(run: ModelRun, *shown: HeadFigure, place: str = "") -> About:
    """Return what captions say about pictures of the figures `shown`; for `place` see `about`."""
    return replace(about(place=place), told=counted_over(run, *shown))


def counted_over(run: ModelRun, *shown: HeadFigure) -> str:
    """Return in words which text the figures were counted over."""
    told = f"Over {shown_text(run.model)}"
    has_own = any(figure.name == PRONOUN.name for figure in shown)
    return f"{told}; “{PRONOUN.name}” over sentences of its own" if has_own else told


def name_selected(atlas: Atlas) -> None:
    """Draw the name of the selected head, and the button that opens its card."""
    kind, layer, head = address = selected_head()
    pattern = atlas.kinds[kind].clearest[layer][head]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(
            f"Your head: **{site_words(*address)}**. Clearest pattern: {pattern}.", width="content"
        )
        st.button("Open its card", on_click=put, args=[TAB, "head"])


def table_of_heads(
    heads: Sequence[HeadAddress],
    columns: Mapping[str, Sequence],
    key: str,
    numbers: Mapping[str, Numbers],
    *,
    of: About,
    what: str,
    column_config: Mapping[str, object],
) -> None:
    """Draw a table of heads with columns next to their names; choosing a row selects its head."""
    import pandas as pd  # not at the top of the file: pandas is slow to import

    named = {
        "kind": [kind for kind, _, _ in heads],
        "layer": [layer + 1 for _, layer, _ in heads],
        "head": [head + 1 for _, _, head in heads],
    }

    def select_row() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        if rows and rows[0] < len(heads):  # the table may be an earlier model's
            select_head(*heads[rows[0]])

    show_table(
        pd.DataFrame({**named, **columns}),
        key,
        numbers,
        of=of,
        what=what,
        column_config=column_config,
        hide_index=True,
        placeholder="",  # shown where a figure is missing
        on_select=select_row,
        selection_mode="single-row",
    )
