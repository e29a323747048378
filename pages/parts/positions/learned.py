"""A learned table beside the sinusoidal one of its width: the same pictures, the same axes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import streamlit as st
import torch

from model.positions import by_offset, sinusoids
from pages.parts.positions.tables import (
    LONGEST,
    choose_dimensions,
    dimensions,
    pairs_of_all_speeds,
    show_table,
)
from pages.parts.positions.words import LEARNED_WORDS
from pages.shared.link.address import section
from pages.shared.runs.positions import LEARNED, learned_table, library_tables
from pages.shared.runs.records import trained_pairs, trained_up_to
from pages.shared.show.pictures import show_altair
from pages.shared.show.saving import About, about
from pages.shared.state.choice import like, number, switch
from pages.shared.state.choices import chosen
from pages.shared.widgets.choose import choose
from viz import position_lines

SIDES = {"encoder": "small model's encoder", "decoder": "small model's decoder"}
BERT = "bert:"  # what the keys of tables of BERTs begin with

TABLE = like("positions_side", next(iter(SIDES)), rf"{'|'.join(SIDES)}|{BERT}.{{1,300}}")
COUNT = number("learned_count", 64, (16, LONGEST), label="Positions shown", step=16)
UNIT = switch("positions_unit", label="Scale every position to length 1")
DIMENSIONS = dimensions("learned_dimensions")
CHOICES = (TABLE, COUNT, UNIT, DIMENSIONS)


@dataclass(frozen=True)
class Compared:
    """A sinusoidal and a learned table (positions, d_model), with what is drawn of both."""

    tables: dict[str, np.ndarray]  # by name
    similarity: str  # what the product of two rows is called

    @classmethod
    def of(cls, learned: np.ndarray, count: int, unit: bool) -> Compared:
        """Return the first positions of a table and of its sinusoids, scaled to length 1 or not."""
        count, d_model = min(count, len(learned)), learned.shape[1]
        tables = {"sinusoidal": sinusoids(count, d_model).numpy(), "learned": learned[:count]}
        if not unit:
            return cls(tables, "dot product")
        scaled = {name: table / lengths(table)[:, None] for name, table in tables.items()}
        return cls(scaled, "cosine")

    @cached_property
    def similarities(self) -> dict[str, np.ndarray]:
        """The products of all rows (positions, positions) of each table."""
        return {name: table @ table.T for name, table in self.tables.items()}


def lengths(table: np.ndarray) -> np.ndarray:
    """Return the length of each row."""
    return np.linalg.norm(table, axis=1)


def largest(arrays: dict[str, np.ndarray]) -> float:
    """Return the largest size of any number."""
    return max(float(np.abs(array).max()) for array in arrays.values())


def title_of(table: str) -> str:
    """Return what a table is called on screen."""
    return SIDES.get(table) or f"BERT: {table.removeprefix(BERT)}"


@section
def learned_section() -> None:
    """Draw the choice of a table, and everything about it."""
    tables = {side: learned_table(side) for side in SIDES}
    found = library_tables(chosen(TABLE).removeprefix(BERT))
    tables |= {BERT + name: table for name, table in found.items()}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = choose(
            TABLE,
            tables,
            widget=st.selectbox,
            label="Table of the",
            format_func=title_of,
            width=320,
        )
        count = choose(COUNT, widget=st.slider, width=220)
        unit = choose(UNIT)
    st.caption(LEARNED_WORDS["what" if name in SIDES else "of BERT"])
    if len(tables) == len(SIDES):
        st.page_link("pages/bert.py", label=LEARNED_WORDS["to BERT"])
    of, learned = about(model=title_of(name)), tables[name]
    compared = Compared.of(learned, count, unit)
    side_by_side(compared, of)
    by_distance(compared, of)
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("How often each position was trained")
        how_often(name, of)
    with right:
        st.subheader("How long each position is")
        other = sinusoids(*learned.shape).numpy()
        lines = {"sinusoidal": lengths(other), "learned": lengths(learned)}
        chart = position_lines(lines, y="length")
        show_altair(chart, "lengths", of=of, what="Length of each position")
        st.caption(LEARNED_WORDS["norms"].format(length=(learned.shape[1] / 2) ** 0.5))


def side_by_side(compared: Compared, of: About) -> None:
    """Draw both tables on one scale: some dimensions as lines, all of them, and the products."""
    d_model = compared.tables["learned"].shape[1]
    numbers = choose_dimensions(DIMENSIONS, d_model, pairs_of_all_speeds(d_model)[::2])
    limit, furthest = largest(compared.tables), largest(compared.similarities)
    names = {"columns": "other position", "name": compared.similarity}
    tables = compared.tables.items()
    for column, (name, table) in zip(st.columns(2, gap="medium"), tables, strict=True):
        with column:
            st.subheader(name.capitalize())
            if numbers:
                lines = {f"dimension {number}": table[:, number] for number in numbers}
                chart = position_lines(lines, limits=(-limit, limit))
                what = f"Dimensions of positions, {name}"
                show_altair(chart, f"lines, {name}", of=of, what=what)
            show_table(table, f"table, {name}", of=of, what=f"Positions, {name}", limit=limit)
            what = f"{compared.similarity} of positions, {name}".capitalize()
            key, products = f"dot products, {name}", compared.similarities[name]
            show_table(products, key, of=of, what=what, limit=furthest, **names)
    st.caption(LEARNED_WORDS["pairs"])


def by_distance(compared: Compared, of: About) -> None:
    """Draw the products of rows by how far apart the rows are."""
    st.subheader("By how far apart they are")
    offsets = {
        name: [part.numpy() for part in by_offset(torch.from_numpy(products))]
        for name, products in compared.similarities.items()
    }
    chart = position_lines(
        {name: mean for name, (_, mean, _) in offsets.items()},
        x="offset",
        y=compared.similarity,
        bands={name: (low, high) for name, (low, _, high) in offsets.items()},
    )
    what = f"{compared.similarity.capitalize()} of positions by offset"
    show_altair(chart, "offsets", of=of, what=what)
    st.caption(LEARNED_WORDS["by offset"])


def how_often(table: str, of: About) -> None:
    """Draw how many training pairs reached each position, if that is known."""
    if table not in SIDES:
        st.caption(LEARNED_WORDS["unknown"])
        return
    pairs = np.array(trained_pairs(LEARNED)[table])
    lines = {"training pairs": pairs}
    chart = position_lines(lines, y="pairs, logarithmic", logarithmic=True)
    show_altair(chart, "trained", of=of, what="How often each position was trained")
    last, _ = trained_up_to(table, LEARNED)
    st.caption(LEARNED_WORDS["reached"].format(pairs=pairs[0], last=last))
