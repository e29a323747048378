"""The page that bench.pictures measures: after a click it shows all heads and one head's lines.

`?tokens=128` sets the number of tokens. As on the Attention page, a click on a small map opens its
head.
"""

from __future__ import annotations

import numpy as np
import streamlit as st
from starlette.middleware import Middleware

from bench.random_heads import names, random_weights
from headlight.pages.shared.show.pictures import load_library, picked, show
from headlight.pages.streamlit_fixes.served_scripts import with_scripts
from headlight.viz import attention_lines, head_grid, selected_map

random_weights = st.cache_resource(show_spinner=False)(random_weights)


def open_map() -> None:
    st.session_state.place = tuple(picked("selection"))


@st.fragment
def detail(weights: np.ndarray, tokens: list[str]) -> None:
    """Draw the lines of the chosen head."""
    chosen = st.session_state.setdefault("place", (0, 0))
    show(selected_map(chosen), "selection", open_map)
    show(attention_lines(weights[chosen], tokens), "lines")


def attention(weights: np.ndarray, tokens: list[str]) -> None:
    """Draw all heads, and the chosen one next to them."""
    left, right = st.columns(2, gap="medium")
    with left:
        show(head_grid(weights, tokens, linked=True), "grid")
    with right:
        detail(weights, tokens)


def draw() -> None:
    """Draw the page."""
    st.set_page_config(layout="wide")
    load_library()
    size = int(st.query_params["tokens"])
    ready = random_weights(size)
    if st.button("Draw"):
        attention(ready, names(size))


if __name__ == "__main__":  # Streamlit runs this file for each visitor
    draw()
else:  # the server imports this file when it starts
    app = st.App(__file__, middleware=[Middleware(with_scripts)])
