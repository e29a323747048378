"""A beam search as a tree: every text kept or dropped at each step."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.numbers import Numbers

PART = Part.next_to(__file__)


@dataclass(frozen=True)
class Leaf:
    """A text that was considered at a step: the token it ends with and what became of it."""

    parent: int | None  # its index among the leaves of the step before
    token: str
    text: str
    log_probability: float  # of the whole text, in nats
    score: float  # used to rank finished texts
    kept: bool
    ended: bool
    best: bool  # whether it led to the text that was returned


def beam_tree(
    steps: Sequence[Sequence[Leaf]], *, selected: tuple[int, int] | None = None
) -> CanvasPicture:
    """The texts of each step, best first, joined to those they continue.

    `selected` is a step and an index in it, from 0; a click answers with the same.
    """
    header = {
        "steps": [[asdict(leaf) for leaf in leaves] for leaves in steps],
        "selected": list(selected) if selected else None,
    }
    tallest = max((len(leaves) for leaves in steps), default=0)
    columns = ("log_probability", "score", "kept", "ended", "best")
    numbers = {
        f"step {number}": Numbers(
            np.array([float(getattr(leaf, name)) for leaf in leaves for name in columns]).reshape(
                len(leaves), len(columns)
            ),
            {"text": [leaf.text for leaf in leaves], "of it": columns},
        )
        for number, leaves in enumerate(steps, start=1)
    }
    return CanvasPicture.pack(PART, header, height=100 + 26 * tallest, numbers=numbers)
