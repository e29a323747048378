"""How likely a model finds each token of a text, in several runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from viz.canvas import CanvasPicture, Part
from viz.numbers import Numbers

PART = Part.beside(__file__, "Probabilities")

COLORS = ("#7f8c8d", "#2a7f9e", "#b45309")  # grey for the run that others are compared with


def probability_bars(runs: Mapping[str, np.ndarray], tokens: Sequence[str]) -> CanvasPicture:
    """Probabilities (0 to 1) of the same tokens in up to three runs, named by the keys.

    Bars stand in the order of the text, from top to bottom. Raises ValueError if a run's
    probabilities do not fit the tokens.
    """
    for name, probabilities in runs.items():
        if len(probabilities) != len(tokens):
            raise ValueError(
                f"{name} has {len(probabilities)} probabilities but there are {len(tokens)} tokens."
            )
    values = np.stack(list(runs.values()))  # (runs, tokens)
    header = {
        "tokens": list(tokens),
        "runs": list(runs),
        "colors": COLORS[: len(runs)],
    }
    numbers = {"probability": Numbers(values, {"run": list(runs), "token": tokens})}
    height = 40 + len(tokens) * (6 + 14 * len(runs))
    return CanvasPicture.pack(PART, header, values.astype("<f4"), height=height, numbers=numbers)
