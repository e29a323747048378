"""The tab Sinusoids: the formula, curves, wavelengths, dot products and rotation of positions."""

import math

import streamlit as st
import torch
from torch import Tensor

from headlight.model.transformer.positions import frequencies, sinusoids
from headlight.pages.parts.positions import tables
from headlight.pages.parts.positions.position_clocks import position_clocks
from headlight.pages.parts.positions.rotation import by_offset, rotation, rotation_error
from headlight.pages.parts.positions.words import FORMULA, ROTATION, SINUSOID_WORDS
from headlight.pages.shared.address import section
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.show.pictures import show, show_altair
from headlight.pages.shared.show.saving import NO_MODEL
from headlight.pages.shared.show.sight import parts
from headlight.pages.shared.state.choice import number, one_of
from headlight.pages.shared.widgets.choose import choose
from headlight.viz import wavelengths
from headlight.viz.numbers import power_text

WIDTHS = (8, 16, 32, 64, 128, 256, 512)
MOST_SHOWN = 32  # dimensions of a rotation that are drawn: with more, its blocks would be too small
MOST_CLOCKS = 6  # at most this many pairs of dimensions are drawn as clocks
FINEST = 8  # a curve has at most this many points for each position
MOST_PLACES = 1_024  # a whole curve has at most this many points

COUNT = number("positions_count", 128, (16, tables.LONGEST), label="Positions", step=16)
WIDTH = one_of("positions_width", {width: str(width) for width in WIDTHS}, 256, label="d_model")
BASE = number("positions_base", 10_000.0, (2.0, 1e6), label="Base")
DIMENSIONS = tables.dimensions("positions_dimensions")
OFFSET = number("positions_offset", 4, (0, tables.LONGEST // 2), label="k")
PARTS = ("Formula", "Curves", "Table and wavelengths", "Dot products", "From place to place")
CHOICES = (COUNT, WIDTH, BASE, DIMENSIONS, OFFSET)


@section
def sinusoid_section() -> None:
    """Draw the choice of a table of sinusoids (its size and base), and all pictures of it."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        count = choose(COUNT, widget=st.slider, width=220)
        d_model = choose(WIDTH, widget=st.select_slider, width=220)
        base = choose(BASE, format="%.6g", width=160)
    table = sinusoids(count, d_model, base)  # (positions, d_model)
    shape = f"{count} positions, {d_model} dimensions, base {base:.6g}"
    formula, lines, whole, products, turned = parts(PARTS)
    with formula:
        st.latex(FORMULA % {"base": f"{base:.6g}", "d_model": d_model})
        caption(SINUSOID_WORDS["formula"])
    with lines:
        st.subheader("Curves")
        curves(table, base)
    with whole:
        table_and_wavelengths(table, base, shape)
    with products:
        dot_products(table @ table.T, shape)
    with turned:
        st.subheader("From one position to the one k later")
        turning(table, base)


def table_and_wavelengths(table: Tensor, base: float, shape: str) -> None:
    """Draw a table (positions, d_model) and the wavelengths of its dimensions."""
    count, d_model = table.shape
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("Every position and dimension")
        tables.show_table(table.numpy(), "table", of=NO_MODEL, what=f"Sinusoids, {shape}", limit=1)
        caption(SINUSOID_WORDS["table"])
    with right:
        st.subheader("Wavelengths")
        lengths = 2 * math.pi / frequencies(d_model, base).numpy()
        chart = wavelengths(lengths, positions=count, height=380)
        show_altair(chart, "wavelengths", of=NO_MODEL, what=f"Wavelengths, {shape}")
        caption(SINUSOID_WORDS["wavelengths"].format(longest=lengths[-1]))


def curves(table: Tensor, base: float) -> None:
    """Draw curves of the chosen dimensions of a table (positions, d_model).

    The curves are also computed between whole positions.
    """
    count, d_model = table.shape
    numbers = tables.choose_dimensions(DIMENSIONS, d_model, tables.pairs_of_all_speeds(d_model))
    steps = min(FINEST, MOST_PLACES // count)  # points of a curve for each position
    places = torch.arange((count - 1) * steps + 1) / steps
    lines, finer = (
        {f"{at} · {'cos' if at % 2 else 'sin'}": rows[:, at].numpy() for at in numbers}
        for rows in (table, sinusoids(places, d_model, base))
    )
    if lines:
        what = f"Curves of sinusoids, {count} positions, {d_model} dimensions"
        between = {"limits": (-1, 1), "curves": (places.numpy(), finer)}
        tables.show_lines(lines, "curves", of=NO_MODEL, what=what, **between)
    caption(SINUSOID_WORDS["curves"])


def dot_products(products: Tensor, shape: str) -> None:
    """Draw dot products (positions, positions) of a table's rows, and their mean by distance."""
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("Dot products of positions")
        what = f"Dot products of sinusoids, {shape}"
        names = {"columns": "other position", "name": "dot product"}
        tables.show_table(products.numpy(), "dot products", of=NO_MODEL, what=what, **names)
    with right:
        st.subheader("Dot products by distance")
        lines = {"sinusoidal": by_offset(products)[1].numpy()}
        what, axes = f"Dot products by offset, {shape}", {"x": "offset", "y": "dot product"}
        tables.show_lines(lines, "by offset", of=NO_MODEL, what=what, height=270, **axes)
        caption(SINUSOID_WORDS["dot products"])


@section
def turning(table: Tensor, base: float) -> None:
    """Draw the rotation from a position to the one k later, its error, and pairs as clocks."""
    count, d_model = table.shape
    offset = choose(OFFSET, widget=st.slider, max_value=count // 2, width=320)
    left, right = st.columns(2, gap="medium")
    with left:
        st.latex(ROTATION)
        matrix = rotation(offset, d_model, base)[:MOST_SHOWN, :MOST_SHOWN].numpy()
        names = {"rows": "to dimension", "columns": "from dimension", "name": "factor"}
        what = f"Rotation by {offset} positions"
        tables.show_table(matrix, "rotation", of=NO_MODEL, what=what, limit=1, **names)
        if d_model > MOST_SHOWN:
            st.caption(f"Shown: the first {MOST_SHOWN // 2} of {d_model // 2} pairs.")
    with right:
        label = f"Largest error of the map over all {count - offset} positions"
        error = rotation_error(table, offset, base)
        st.metric(label, power_text(error), help=SINUSOID_WORDS["error"])
        caption(SINUSOID_WORDS["rotation"])
        pairs = range(0, d_model // 2, max(1, d_model // 32))[:MOST_CLOCKS]
        hands = table.unflatten(1, (-1, 2))[:, pairs].numpy()  # (positions, pairs, 2)
        turns = (offset * frequencies(d_model, base))[pairs].tolist()
        picture = position_clocks(hands, pairs, turns, offset=offset)
        show(picture, "clocks", of=NO_MODEL, what=f"Positions as clocks, {offset} apart")
        caption(SINUSOID_WORDS["clocks"])
