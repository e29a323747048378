"""The tabs Learned and Beyond training: learned position tables, and positions never trained."""

from dataclasses import replace

import numpy as np
import streamlit as st
import torch

from headlight.model.edits.positions import PositionEdit
from headlight.model.transformer.positions import sinusoids
from headlight.model.transformer.trace import Side
from headlight.pages.parts.positions.calls import (
    LEARNED,
    SHIFTS,
    learned_table,
    library_tables,
    shift_scores,
    trained_pairs,
    trained_up_to,
)
from headlight.pages.parts.positions.rotation import by_offset
from headlight.pages.parts.positions.tables import (
    LONGEST,
    choose_dimensions,
    dimensions,
    pairs_of_all_speeds,
    show_lines,
    show_table,
)
from headlight.pages.parts.positions.words import BEYOND_WORDS, LEARNED_WORDS
from headlight.pages.shared.address import section
from headlight.pages.shared.runs.arrays import as_array
from headlight.pages.shared.runs.run import ModelRun, written
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.show.comparison import show_writing
from headlight.pages.shared.show.saving import NO_MODEL, About, about
from headlight.pages.shared.show.sight import parts
from headlight.pages.shared.state import models
from headlight.pages.shared.state.choice import like, number, one_of, switch
from headlight.pages.shared.state.choices import chosen
from headlight.pages.shared.widgets.choose import choose

SHIPPED = {models.DEFAULT: "Sinusoidal, the shipped model", LEARNED: "Learned, the small model"}
DIMENSION = number("positions_dimension", 24, (0, LONGEST - 1), label="Dimension")
FAR = one_of("positions_far", {shift: str(shift) for shift in SHIFTS}, 256, label="k")


@section
def beyond_section(run: ModelRun) -> None:
    """Draw position tables up to positions that no training text reached, and large shifts."""
    model = models.named(run.model)
    is_shipped = model.key in models.SHIPPED
    if is_shipped:
        st.subheader("The tables")
        caption(BEYOND_WORDS["formula"])
        both_tables()
    st.subheader("Your sentence, shifted by k positions")
    caption(BEYOND_WORDS["shift"])
    names = SHIPPED if is_shipped else {model.key: model.title}
    compared = {words: replace(run, model=name) for name, words in names.items()}
    scores = {words: shift_scores(shifted) for words, shifted in compared.items()}
    if lines := {words: np.array(numbers) for words, numbers in scores.items() if numbers}:
        of = about(run.sentence, model=", ".join(lines))
        each = objective.each if (objective := run.objective()) else "token"
        measure, y = "Log-probability", f"nats per {each}"
        if each == "score":
            measure = y = "Score"
        what = f"{measure} by the shift of all positions"
        show_lines(lines, "shifts", of=of, what=what, positions=SHIFTS, x="k", y=y)
    if is_shipped:
        encoder, decoder = trained_up_to("encoder"), trained_up_to("decoder")
        caption(BEYOND_WORDS["honest"].format(encoder=encoder, decoder=decoder))
    if "write" not in run.reader.missing:
        shift = choose(FAR, widget=st.select_slider, width=320)
        for words, shifted in compared.items():
            text_at(shifted, shift, words)


def both_tables() -> None:
    """Draw one dimension of the sinusoids and of a learned table, which has fewer positions."""
    table = learned_table("encoder")
    positions, d_model = table.shape
    dimension = choose(DIMENSION, widget=st.slider, max_value=d_model - 1, width=320)
    ended = np.full(LONGEST, np.nan, dtype=np.float32)
    ended[:positions] = table[:, dimension]
    lines = {"sinusoidal": as_array(sinusoids(LONGEST, d_model)[:, dimension]), "learned": ended}
    show_lines(lines, "tables", of=NO_MODEL, what=f"Positions in dimension {dimension}")


def text_at(run: ModelRun, shift: int, words: str) -> None:
    """Draw the text that a model (named `words`) writes with all positions shifted."""
    edit = PositionEdit(shift=shift)
    try:
        moved = written(replace(run, moved=(edit, edit)))
    except ValueError as error:
        st.text(f"{words}:")  # plain text, never Markdown: it may be a folder's name
        st.warning(str(error))
        return
    of = about(run.sentence, model=words, changes=f"all positions shifted by {shift}")
    show_writing(moved, f"moved {run.model}", words, of=of)


SIDES: dict[Side, str] = {"encoder": "small model's encoder", "decoder": "small model's decoder"}
LOADED = "loaded:"  # prefix of the keys of tables from models of the transformers library

TABLE = like("positions_side", "", rf"{'|'.join(SIDES)}|{LOADED}.{{1,300}}", label="Table of the")
COUNT = number("learned_count", 64, (16, LONGEST), label="Positions shown", step=16)
UNIT = switch("positions_unit", label="Scale every position to length 1")
DIMENSIONS = dimensions("learned_dimensions")
PARTS = ("Side by side", "By distance", "Training and vector length")
CHOICES = (TABLE, COUNT, UNIT, DIMENSIONS, DIMENSION, FAR)

Arrays = dict[str, np.ndarray]  # by kind of table: the table, or the products of its rows


def lengths(table: np.ndarray) -> np.ndarray:
    return np.linalg.norm(table, axis=1)


def largest(arrays: Arrays) -> float:
    return max(float(np.abs(array).max()) for array in arrays.values())


def title_of(table: str) -> str:
    return SIDES[table] if table in SIDES else models.short(table.removeprefix(LOADED))


@section
def learned_section() -> None:
    """Draw the choice of a learned table, and all sections about it."""
    loaded = library_tables(chosen(TABLE).removeprefix(LOADED))
    own = {side: learned_table(side) for side in SIDES}
    others = {LOADED + name: table for name, table in loaded.items()}
    open_model = models.chosen()
    is_first = open_model.name in loaded
    learned = others | own if is_first else own | others
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = choose(TABLE, learned, widget=st.selectbox, format_func=title_of, width=320)
        count = choose(COUNT, widget=st.slider, width=220)
        unit = choose(UNIT)
    if open_model.is_library and not is_first:
        st.info(LEARNED_WORDS["another"])
    caption(LEARNED_WORDS["what" if name in SIDES else "of a library"])
    if not loaded:
        st.page_link("pages/models.py", label=LEARNED_WORDS["to others"])
    of = about(model=title_of(name))
    whole = {"sinusoidal": sinusoids(*learned[name].shape).numpy(), "learned": learned[name]}
    tables = {key: table[:count] for key, table in whole.items()}
    if unit:
        tables = {key: table / lengths(table)[:, None] for key, table in tables.items()}
    products = {key: table @ table.T for key, table in tables.items()}
    product = "cosine" if unit else "dot product"
    tables_place, distances, trained = parts(PARTS)
    with tables_place:
        side_by_side(tables, products, product, of)
    with distances:
        by_distance(products, product, of)
    with trained:
        often_and_long(name, whole, of)


def often_and_long(name: str, whole: Arrays, of: About) -> None:
    """Draw how often each position of a table was trained, and the length of its vector."""
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("How often each position was trained")
        how_often(name, of)
    with right:
        st.subheader("How long each position's vector is")
        lines = {key: lengths(table) for key, table in whole.items()}
        show_lines(lines, "lengths", of=of, what="Length of each position", y="length")
        d_model = whole["learned"].shape[1]
        caption(LEARNED_WORDS["norms"].format(length=(d_model / 2) ** 0.5))


def side_by_side(tables: Arrays, products: Arrays, product: str, of: About) -> None:
    """Draw both tables on one scale: some dimensions as lines, the whole table, its products."""
    d_model = tables["learned"].shape[1]
    numbers = choose_dimensions(DIMENSIONS, d_model, pairs_of_all_speeds(d_model)[::2])
    limit, furthest = largest(tables), largest(products)
    names = {"columns": "other position", "name": product, "limit": furthest}
    for column, (name, table) in zip(st.columns(2, gap="medium"), tables.items(), strict=True):
        with column:
            st.subheader(name.capitalize())
            if numbers:
                lines = {f"dimension {number}": table[:, number] for number in numbers}
                what = f"Dimensions of positions, {name}"
                show_lines(lines, f"lines, {name}", of=of, what=what, limits=(-limit, limit))
            show_table(table, f"table, {name}", of=of, what=f"Positions, {name}", limit=limit)
            what = f"{product} of positions, {name}".capitalize()
            show_table(products[name], f"dot products, {name}", of=of, what=what, **names)
    caption(LEARNED_WORDS["pairs"])


def by_distance(products: Arrays, product: str, of: About) -> None:
    """Draw the mean, smallest and largest product of two rows of a table, by their distance."""
    st.subheader("By distance")
    means, bands = {}, {}
    for name, values in products.items():
        low, mean, high = (part.numpy() for part in by_offset(torch.from_numpy(values)))
        means[name], bands[name] = mean, (low, high)
    what = f"{product.capitalize()} of positions by offset"
    show_lines(means, "offsets", of=of, what=what, x="offset", y=product, bands=bands)
    caption(LEARNED_WORDS["by offset"])


def how_often(table: str, of: About) -> None:
    """Draw how many training pairs were long enough to reach each position, if this is known."""
    if table not in SIDES:
        caption(LEARNED_WORDS["unknown"])
        return
    pairs = np.array(trained_pairs(LEARNED)[table])
    what, axis = "How often each position was trained", "pairs, logarithmic"
    show_lines({"training pairs": pairs}, "trained", of=of, what=what, y=axis, logarithmic=True)
    last, _ = trained_up_to(table, LEARNED)
    caption(LEARNED_WORDS["reached"].format(pairs=pairs[0], last=last))
