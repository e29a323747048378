"""The colour scales, one for pictures in Plotly and on canvas alike."""

import numpy as np
from plotly.colors import diverging, sequential, unlabel_rgb

# Viridis: even steps of lightness, readable without red or green, and safe in Streamlit, which
# rewrites the darkest colours of some other scales.
SEQUENTIAL: list[str] = list(sequential.Viridis)

# From blue to red, for numbers on both sides of 0: the two ends are distinct for all eyes. Numbers
# near 0 are nearly the paper, so that nothing glares in the dark.
DIVERGING: dict[str, list[str]] = {
    "light": [
        "#{:02x}{:02x}{:02x}".format(*map(int, unlabel_rgb(color)))
        for color in reversed(diverging.RdBu)
    ],
    "dark": [
        "#b5dcff", "#7cbcf5", "#4594dc", "#2f6ba6", "#294a6e", "#2a2f3a",
        "#6b3338", "#9c3f40", "#d0574c", "#f0866f", "#ffc3b0",
    ],
}  # fmt: skip

# For bars: numbers above 0, and those below, on each paper.
SIGNS = {theme: [colors[-2], colors[1]] for theme, colors in DIVERGING.items()}

CLIPPED = 98  # per cent of the numbers that keep colours of their own
FEW = 16  # numbers; if there are no more, none is clipped
FAR = 2.0  # times the end of the colours; up to there, numbers are not clipped


def limit_of(values: np.ndarray) -> tuple[float, bool]:
    """The number at which the colours on both sides of 0 end, and whether some numbers exceed it.

    It is the largest absolute number, unless a few numbers are so large that all others would look
    like 0.
    """
    sizes = np.abs(values[np.isfinite(values)])
    largest = float(sizes.max(initial=0)) or 1.0
    if sizes.size < FEW:
        return largest, False
    usual = float(np.percentile(sizes, CLIPPED, method="lower"))
    clipped = 0 < FAR * usual < largest
    return (usual if clipped else largest), clipped
