"""A bare Streamlit page for bench.app: one small chart, and widgets that change it.

With `?torch` in its address, it imports torch first, as the app does.
"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

if "torch" in st.query_params:
    import torch  # noqa: F401

sentence = st.text_input("Sentence", "I love my cat.")
head = st.selectbox("Head", range(1, 9), index=7, width=86)
st.session_state.clicks = st.session_state.get("clicks", 0) + st.button("Change")
letters = [ord(letter) for letter in sentence]
numbers = np.random.default_rng([head, st.session_state.clicks, *letters]).random((8, 8))
st.plotly_chart(go.Figure(go.Heatmap(z=numbers)))
