"""How long the vectors of the residual stream are."""

from __future__ import annotations

import streamlit as st
import torch

from model.insight.lens import stream_norms
from model.trace import Trace
from pages.shared.runs.arrays import as_array
from pages.shared.show.pictures import show_altair
from pages.shared.show.saving import About
from viz import position_lines


def stream_lengths(trace: Trace, of: About) -> None:
    """Draw the lengths of the residual stream's vectors, block by block."""
    st.subheader("The length of the stream")
    for column, side in zip(st.columns(2), trace.embedding, strict=False):
        norms = torch.stack([norm for _, norm in stream_norms(trace, side)])  # (N, T)
        lines = {
            "mean over tokens": as_array(norms.mean(dim=1)),
            "largest": as_array(norms.max(dim=1).values),
        }
        with column:
            st.markdown(f"**{side.title()}**")
            chart = position_lines(lines, x="sublayer", y="length")
            show_altair(chart, f"stream {side}", of=of, what=f"Length of the {side}'s stream")
