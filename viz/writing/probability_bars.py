"""Draw numbers of several runs as bars, such as the probability of each token."""

from collections.abc import Mapping, Sequence

import numpy as np

from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.colors import SIGNS
from headlight.viz.numbers import Numbers

PART = Part.next_to(__file__, "Probabilities")

ROUNDING = 1e-3  # how far above 1 a probability may be: float16 rounds
COLORS = ("#7f8c8d", "#2a7f9e", "#b45309")  # grey: the run that the other runs are compared with


def probability_bars(
    runs: Mapping[str, np.ndarray], tokens: Sequence[str], *, first: int = 1
) -> CanvasPicture:
    """Draw the probabilities (tokens,) of the same tokens in up to three runs, by the runs' names.

    Tokens are in the order of the text, from top to bottom, and numbered from `first`. Raises
    ValueError if the probabilities do not fit the tokens, for more runs than there are colours, and
    for numbers below 0 or above 1.
    """
    values = np.stack(list(runs.values()))  # (runs, tokens)
    if (values < 0).any() or (values > 1 + ROUNDING).any():
        raise ValueError(
            f"Probabilities are from 0 to 1, and these from {values.min():g} to {values.max():g}."
        )
    numbers = {"probability": Numbers(values, {"run": list(runs), "token": tokens})}
    return bars(values, tokens, list(runs), [1.0] * len(tokens), numbers, first=first)


def measure_bars(
    runs: Mapping[str, Mapping[str, float]], limits: Mapping[str, float]
) -> CanvasPicture:
    """Draw numbers of up to three runs, by the run and by the measure's name.

    `limits` are the numbers, above 0, at which the bars of each measure end. If some number is
    below 0, bars begin in the middle, and those below 0 go to the left.
    """
    names = list(limits)
    values = np.array([[measured[name] for name in names] for measured in runs.values()])
    numbers = {"measure": Numbers(values, {"run": list(runs), "measure": names})}
    return bars(values, names, list(runs), list(limits.values()), numbers)


def bars(
    values: np.ndarray,
    names: Sequence[str],
    runs: Sequence[str],
    limits: Sequence[float],
    numbers: Mapping[str, Numbers],
    *,
    first: int = 0,
) -> CanvasPicture:
    """Draw values (runs, names) as bars that end at the limit of each name.

    The names are numbered from `first`, or not numbered if it is 0. Raises ValueError for more runs
    than there are colours.
    """
    if len(runs) > len(COLORS):
        raise ValueError(f"{len(runs)} runs are more than the {len(COLORS)} colours.")
    header = {
        "tokens": list(names),
        "runs": list(runs),
        "colors": COLORS[: len(runs)],
        "limits": list(limits),
        "below": SIGNS if (values < 0).any() else None,
        "first": first,
    }
    height = 40 + len(names) * (6 + 14 * len(runs))
    return CanvasPicture.pack(PART, header, values.astype("<f4"), height=height, numbers=numbers)
