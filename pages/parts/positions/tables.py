"""Functions for pictures of position tables: drawing them, and choosing dimensions."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st

from headlight.model.shape import Shape
from headlight.pages.shared.show.pictures import show_altair, show_plotly
from headlight.pages.shared.show.saving import About
from headlight.pages.shared.state.choice import Choice
from headlight.pages.shared.state.choices import chosen, put
from headlight.pages.streamlit_fixes.late_values import editor
from headlight.viz import position_heatmap, position_lines
from headlight.viz.curves.position_lines import MOST_LINES

LONGEST = 512  # positions
WIDEST = 10_000  # the dimensions that a link names must be below this
NONE = "none"  # what a link has if no dimensions are chosen


def show_lines(
    lines: Mapping[str, np.ndarray], key: str, *, of: About, what: str, **options: Any
) -> None:
    """Draw a line chart over positions; `lines` are by name. See `position_lines` and `show`."""
    show_altair(position_lines(lines, **options), key, of=of, what=what)


def show_table(values: np.ndarray, key: str, *, of: About, what: str, **options: Any) -> None:
    """Draw a table (rows, columns) whose axes count from 0; see `position_heatmap` and `show`."""
    show_plotly(position_heatmap(values, **options), key, of=of, what=what)


def read_dimensions(written: str, shape: Shape) -> tuple[int, ...]:
    """Read dimensions from a link, numbered from 0; raise ValueError if they are invalid."""
    numbers = () if written == NONE else tuple(int(number) for number in written.split(","))
    if len(numbers) > MOST_LINES or not all(0 <= number < WIDEST for number in numbers):
        raise ValueError(f"{written} are not at most {MOST_LINES} dimensions.")
    return numbers


def write_dimensions(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers)) or NONE


def dimensions(key: str) -> Choice:
    """Return the choice of dimensions to draw; None stands for default ones, which need d_model."""
    return Choice(key, None, read_dimensions, write_dimensions, label="Dimensions")


def choose_dimensions(choice: Choice, d_model: int, usual: Sequence[int]) -> list[int]:
    """Draw the choice of dimensions of a table, by default `usual`; return them in order."""
    numbers = chosen(choice)
    shown = list(usual) if numbers is None else [number for number in numbers if number < d_model]
    with st.container(key=choice.key):
        editor(
            st.multiselect, choice.label, shown, lambda new: put(choice, tuple(new)),
            f"{choice.key} of {d_model}", options=range(d_model), max_selections=MOST_LINES,
        )  # fmt: skip
    return sorted(shown)


def pairs_of_all_speeds(d_model: int) -> list[int]:
    """Return the dimensions of three pairs of sinusoids: a fast, a slower and a slow pair."""
    pairs = sorted({0, d_model // 16, d_model // 8})
    return [number for pair in pairs for number in (2 * pair, 2 * pair + 1)]
