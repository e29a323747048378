"""A picture of clocks: each hand is a pair of dimensions, at two positions a fixed offset apart."""

from collections.abc import Sequence

import numpy as np

from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.numbers import Numbers, counted

PART = Part.next_to(__file__)


def position_clocks(
    hands: np.ndarray,
    pairs: Sequence[int],
    turns: Sequence[float],
    *,
    offset: int,
    later: tuple[str, str, np.ndarray] | None = None,
) -> CanvasPicture:
    """Return a clock for each pair of dimensions, with hands for two positions, `offset` apart.

    `hands` is [position, pair, 2], the sine and cosine of each hand, clockwise from the top.
    `pairs` names the clocks, and `turns` is how far the later hand is ahead, in radians. A slider
    and a button move both hands through the positions. If the two hands are of different vectors,
    such as a query and a key, `later` has the names of both vectors and the hands of the second.
    """
    positions, clocks, _ = hands.shape
    *names, ahead = later or ("hands", "hands", hands)
    header = {
        "names": names if later else None,
        "pairs": list(map(int, pairs)),
        "turns": [float(turn) for turn in turns],
        "offset": offset,
        "positions": positions - offset,
    }
    axes = {
        "position": counted(positions, 0),
        "pair": [str(pair) for pair in pairs],
        "hand": ["sine", "cosine"],
    }
    return CanvasPicture.pack(
        PART,
        header,
        np.stack([hands, ahead][: 1 + bool(later)]).astype("<f4"),
        height=170 * -(-clocks // 3) + 110,
        numbers={names[0]: Numbers(hands, axes), names[1]: Numbers(ahead, axes)},
    )
