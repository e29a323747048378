"""The colour scales, one for pictures in Plotly and on canvas alike."""

from __future__ import annotations

from plotly.colors import diverging, sequential, unlabel_rgb

# Viridis: even steps of lightness, readable without red or green, and safe in Streamlit, which
# rewrites the darkest colours of some other scales.
SEQUENTIAL: list[str] = list(sequential.Viridis)

# From blue over white to red, for differences: the two ends stay apart for all eyes.
DIVERGING: list[str] = [
    "#{:02x}{:02x}{:02x}".format(*map(int, unlabel_rgb(color)))
    for color in reversed(diverging.RdBu)
]
