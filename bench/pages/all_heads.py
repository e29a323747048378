"""A page of the app's own parts for bench.pictures: all heads and the lines of one, by a click.

`?tokens=128` chooses the size. As on the Attention page, a click on a small map opens its head.
"""

from __future__ import annotations

import numpy as np
import streamlit as st

from bench.random_heads import names, random_weights
from pages.shared.pictures import load_library, picked, show
from viz import attention_lines, head_grid

random_weights = st.cache_resource(random_weights, show_spinner=False)


def open_map() -> None:
    """Go to the clicked map."""
    st.session_state.place = tuple(picked("grid"))


@st.fragment
def attention(weights: np.ndarray, tokens: list[str]) -> None:
    """All heads, and the chosen one in large."""
    place = st.session_state.setdefault("place", (0, 0))
    overview, detail = st.columns(2, gap="medium")
    with overview:
        show(head_grid(weights, tokens, selected=place), "grid", open_map)
    with detail:
        show(attention_lines(weights[place], tokens), "lines")


st.set_page_config(layout="wide")
load_library()
size = int(st.query_params["tokens"])
ready = random_weights(size)
if st.button("Draw"):
    attention(ready, names(size))
