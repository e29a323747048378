"""A picture of a beam search as a tree: the texts kept or dropped at each step."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.numbers import Numbers

PART = Part.next_to(__file__)


@dataclass(frozen=True)
class Leaf:
    """A text that the search considered at a step: its last token, and whether it was kept."""

    parent: int | None  # the index, in the step before, of the text that this one continues
    token: str
    text: str
    log_probability: float  # of the whole text, in nats
    score: float  # the number by which finished texts are ranked
    kept: bool
    ended: bool
    best: bool  # true if the returned text begins with this text


def beam_tree(
    steps: Sequence[Sequence[Leaf]], *, selected: tuple[int, int] | None = None
) -> CanvasPicture:
    """Return a tree: the texts of each step, best first, each joined to the text it continues.

    `selected` is the step and the index, from 0, of the selected text; a click on a text answers
    with such a pair.
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
