"""The colour scales, the same for pictures in Plotly and on a canvas."""

import numpy as np
from plotly.colors import diverging, sequential, unlabel_rgb

# Viridis: its lightness grows evenly, people who cannot tell red from green can read it, and
# Streamlit does not replace its darkest colours, as it does with some other scales.
SEQUENTIAL: list[str] = list(sequential.Viridis)

# From blue to red, for numbers below and above 0: colour-blind people can tell the two ends apart.
# Numbers near 0 have nearly the colour of the background, and do not glare in the dark theme.
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

# The colours of bars in each theme: for numbers above 0, then for numbers below 0.
SIGNS = {theme: [colors[-2], colors[1]] for theme, colors in DIVERGING.items()}

CLIPPED = 98  # the percentile of the absolute numbers at which clipped colours end
FEW = 16  # fewer numbers than this are never clipped
FAR = 2.0  # numbers are clipped if the largest is more than this many times that percentile


def limit_of(values: np.ndarray) -> tuple[float, bool]:
    """Return the number at which the colours above and below 0 end, and whether numbers exceed it.

    It is the largest absolute number, or less if a few numbers are so large that all others would
    look like 0.
    """
    sizes = np.abs(values[np.isfinite(values)])
    largest = float(sizes.max(initial=0)) or 1.0
    if sizes.size < FEW:
        return largest, False
    usual = float(np.percentile(sizes, CLIPPED, method="lower"))
    clipped = 0 < FAR * usual < largest
    return (usual if clipped else largest), clipped
