"""Pairs of dimensions as the hands of clocks, at two positions a fixed offset apart."""

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
    """A clock for each pair, with hands at a position and at the one `offset` later.

    `hands` is [position, pair, 2], the sine and cosine, which point clockwise from the top. `pairs`
    names the clocks, and `turns` says how far the later hand is ahead of the other, in radians. A
    slider and a button move both hands through the positions, in the browser. If the `later` hands
    are not the same vectors as the others, they come with the names of both.
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
