"""The parts of the Positions page that need no sentence: sinusoids, and a learned table."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st
import torch

from model.library.bert_reader import BertReader
from model.positions import by_offset, frequencies, rotation, rotation_error, sinusoids
from pages.parts.positions.words import FORMULA, LEARNED_WORDS, ROTATION, SINUSOID_WORDS
from pages.shared.link import address
from pages.shared.runs.positions import LEARNED, learned_table
from pages.shared.runs.records import trained_pairs, trained_up_to
from pages.shared.runs.shelf import mine
from pages.shared.show.pictures import show, show_altair, show_plotly
from pages.shared.show.saving import about
from viz import position_clocks, position_heatmap, position_lines, wavelengths
from viz.curves.position_lines import MOST_LINES
from viz.numbers import Numbers, counted

LONGEST = 512  # positions
WIDTHS = (8, 16, 32, 64, 128, 256, 512)
MOST_SHOWN = 32  # dimensions of the rotation, so that single blocks can be seen
MOST_CLOCKS = 6
SIDES = {"encoder": "small model's encoder", "decoder": "small model's decoder"}


@address.fragment
def sinusoid_section() -> None:
    """The sinusoids: their curves, wavelengths and dot products, and how they turn."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        count = st.slider(
            "Positions",
            16,
            LONGEST,
            128,
            step=16,
            key="positions_count",
            persist_state="session",
            width=220,
        )
        d_model = st.select_slider(
            "d_model", WIDTHS, 256, key="positions_width", persist_state="session", width=220
        )
        base = st.number_input(
            "Base",
            2.0,
            1e6,
            10_000.0,
            format="%.6g",
            key="positions_base",
            persist_state="session",
            width=160,
        )
    table = sinusoids(count, d_model, base)  # (positions, d_model)
    st.latex(FORMULA % {"base": f"{base:.6g}", "d_model": d_model})
    st.caption(SINUSOID_WORDS["formula"])
    shape = f"{count} positions, {d_model} dimensions, base {base:.6g}"
    about(model="")
    st.subheader("Curves")
    curves(table.numpy())
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("Every position and dimension")
        show_plotly(
            position_heatmap(table.numpy(), limit=1),
            "table",
            save=f"Sinusoids, {shape}",
            numbers=table_numbers(table.numpy()),
        )
        st.caption(SINUSOID_WORDS["table"])
    with right:
        st.subheader("Wavelengths")
        lengths = 2 * math.pi / frequencies(d_model, base).numpy()
        chart = wavelengths(lengths, positions=count, height=380)
        show_altair(chart, "wavelengths", save=f"Wavelengths, {shape}")
        st.caption(SINUSOID_WORDS["wavelengths"].format(longest=lengths[-1]))
    similarities = table @ table.T  # (positions, positions)
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("Dot products of positions")
        figure = position_heatmap(
            similarities.numpy(), columns="other position", name="dot product"
        )
        numbers = table_numbers(similarities.numpy(), "other position", "dot product")
        save = f"Dot products of sinusoids, {shape}"
        show_plotly(figure, "dot products", save=save, numbers=numbers)
    with right:
        st.subheader("By how far apart they are")
        _, mean, _ = by_offset(similarities)
        lines = {"sinusoidal": mean.numpy()}
        chart = position_lines(lines, x="offset", y="dot product", height=330)
        show_altair(chart, "by offset", save=f"Dot products by offset, {shape}")
        st.caption(SINUSOID_WORDS["dot products"])
    st.subheader("From one position to the one k later")
    turning(table, base)


def table_numbers(
    values: np.ndarray, columns: str = "dimension", name: str = "value", rows: str = "position"
) -> dict[str, Numbers]:
    """The numbers of a table (rows, columns) whose axes are counted from 0."""
    height, width = values.shape
    return {name: Numbers(values, {rows: counted(height, 0), columns: counted(width, 0)})}


def curves(table: np.ndarray) -> None:
    """Chosen dimensions of a table (positions, d_model) against the position."""
    d_model = table.shape[1]
    dimensions = st.multiselect(
        "Dimensions",
        range(d_model),
        default_dimensions(d_model),
        max_selections=MOST_LINES,
        key=f"dimensions of {d_model}",
        persist_state="session",
    )
    if dimensions:
        lines = {
            f"{number} · {'cos' if number % 2 else 'sin'}": table[:, number]
            for number in sorted(dimensions)
        }
        chart = position_lines(lines, limits=(-1, 1))
        shape = f"{len(table)} positions, {d_model} dimensions"
        show_altair(chart, "curves", save=f"Curves of sinusoids, {shape}")
    st.caption(SINUSOID_WORDS["curves"])


def default_dimensions(d_model: int) -> list[int]:
    """Three pairs that turn fast, less fast and slowly, whatever the width."""
    pairs = sorted({0, d_model // 16, d_model // 8})
    return [number for pair in pairs for number in (2 * pair, 2 * pair + 1)]


@address.fragment
def turning(table: torch.Tensor, base: float) -> None:
    """The map from every position to a later one, its error, and the pairs as clocks."""
    count, d_model = table.shape
    offset = st.slider(
        "k",
        0,
        count // 2,
        min(4, count // 2),
        key=f"offset of {count}",
        persist_state="session",
        width=320,
    )
    turns = offset * frequencies(d_model, base)
    left, right = st.columns(2, gap="medium")
    with left:
        st.latex(ROTATION)
        matrix = rotation(offset, d_model, base)[:MOST_SHOWN, :MOST_SHOWN].numpy()
        figure = position_heatmap(
            matrix, rows="to dimension", columns="from dimension", name="factor", limit=1
        )
        numbers = table_numbers(matrix, "from dimension", "factor", "to dimension")
        show_plotly(figure, "rotation", save=f"Rotation by {offset} positions", numbers=numbers)
        if d_model > MOST_SHOWN:
            st.caption(f"Shown: the first {MOST_SHOWN // 2} of {d_model // 2} pairs.")
    with right:
        error = rotation_error(table, offset, base)
        st.metric(
            f"Largest error of the map over all {count - offset} positions",
            f"{error:.1e}",
            help="The largest difference of any number of any position. It is the rounding of "
            "32-bit numbers.",
        )
        st.caption(SINUSOID_WORDS["rotation"])
        pairs = range(0, d_model // 2, max(1, d_model // 32))[:MOST_CLOCKS]
        hands = table.unflatten(1, (-1, 2))[:, pairs].numpy()  # (positions, pairs, 2)
        save = f"Positions as clocks, {offset} apart"
        show(
            position_clocks(hands, pairs, turns[pairs].tolist(), offset=offset), "clocks", save=save
        )
        st.caption(SINUSOID_WORDS["clocks"])


@address.fragment
def learned_section() -> None:
    """A learned table beside the sinusoidal one of its width: the same pictures, the same axes."""
    tables = {side: learned_table(side) for side in SIDES} | {
        f"BERT: {loaded.name}": loaded.model.model.positions.table.detach().cpu().numpy()
        for loaded in mine()
        if isinstance(loaded.model, BertReader)
        and loaded.model.model.config.d_model % 2 == 0  # sinusoids come in pairs
    }
    if st.session_state.get("positions_side") not in tables:
        st.session_state.positions_side = "encoder"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        side = st.selectbox(
            "Table of the",
            tables,
            format_func=lambda name: SIDES.get(name, name),
            key="positions_side",
            persist_state="session",
            width=320,
        )
        count = st.slider(
            "Positions shown",
            16,
            LONGEST,
            64,
            step=16,
            key="learned_count",
            persist_state="session",
            width=220,
        )
        unit = st.toggle(
            "Scale every position to length 1", key="positions_unit", persist_state="session"
        )
    st.caption(LEARNED_WORDS["what" if side in SIDES else "of BERT"])
    if len(tables) == len(SIDES):
        st.page_link("pages/bert.py", label=LEARNED_WORDS["to BERT"])
    learned = tables[side]
    about(model=SIDES.get(side, side))
    compare_tables(learned, count, unit)
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("How often each position was trained")
        if side in SIDES:
            reached = np.array(trained_pairs(LEARNED)[side])
            lines = {"training pairs": reached}
            chart = position_lines(lines, y="pairs, logarithmic", logarithmic=True)
            show_altair(chart, "trained", save="How often each position was trained")
            last, _ = trained_up_to(side, LEARNED)
            st.caption(LEARNED_WORDS["reached"].format(pairs=reached[0], last=last))
        else:
            st.caption(LEARNED_WORDS["unknown"])
    with right:
        st.subheader("How long each position is")
        other = sinusoids(*learned.shape).numpy()
        lines = {
            name: np.linalg.norm(table, axis=1)
            for name, table in (("sinusoidal", other), ("learned", learned))
        }
        show_altair(position_lines(lines, y="length"), "lengths", save="Length of each position")
        st.caption(LEARNED_WORDS["norms"].format(length=(learned.shape[1] / 2) ** 0.5))


def compare_tables(learned: np.ndarray, count: int, unit: bool) -> None:
    """The first positions of a table (positions, d_model) beside the sinusoids of its width."""
    count, d_model = min(count, len(learned)), learned.shape[1]
    tables = {"sinusoidal": sinusoids(count, d_model).numpy(), "learned": learned[:count]}
    if unit:
        tables = {
            name: table / np.linalg.norm(table, axis=1, keepdims=True)
            for name, table in tables.items()
        }
    limit = max(float(np.abs(table).max()) for table in tables.values())
    similarities = {name: table @ table.T for name, table in tables.items()}
    largest = max(float(np.abs(matrix).max()) for matrix in similarities.values())
    dimensions = st.multiselect(
        "Dimensions",
        range(d_model),
        default_dimensions(d_model)[::2],
        max_selections=MOST_LINES,
        key=f"learned_dimensions of {d_model}",
        persist_state="session",
    )
    similarity = "cosine" if unit else "dot product"
    for column, (name, table) in zip(st.columns(2, gap="medium"), tables.items(), strict=True):
        with column:
            st.subheader(name.capitalize())
            if dimensions:
                lines = {f"dimension {number}": table[:, number] for number in sorted(dimensions)}
                chart = position_lines(lines, limits=(-limit, limit))
                show_altair(chart, f"lines, {name}", save=f"Dimensions of positions, {name}")
            figure = position_heatmap(table, limit=limit)
            numbers, save = table_numbers(table), f"Positions, {name}"
            show_plotly(figure, f"table, {name}", save=save, numbers=numbers)
            figure = position_heatmap(
                similarities[name], columns="other position", name=similarity, limit=largest
            )
            numbers = table_numbers(similarities[name], "other position", similarity)
            save = f"{similarity} of positions, {name}".capitalize()
            show_plotly(figure, f"dot products, {name}", save=save, numbers=numbers)
    st.caption(LEARNED_WORDS["pairs"])
    st.subheader("By how far apart they are")
    offsets = {
        name: [part.numpy() for part in by_offset(torch.from_numpy(matrix))]
        for name, matrix in similarities.items()
    }
    chart = position_lines(
        {name: mean for name, (_, mean, _) in offsets.items()},
        x="offset",
        y=similarity,
        bands={name: (low, high) for name, (low, _, high) in offsets.items()},
    )
    show_altair(chart, "offsets", save=f"{similarity.capitalize()} of positions by offset")
    st.caption(LEARNED_WORDS["by offset"])
