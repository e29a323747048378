"""A picture of masks as small drawings, each next to its title, its description and numbers."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.numbers import Numbers

PART = Part.next_to(__file__, "Masks")


@dataclass(frozen=True)
class MaskCard:
    """The text next to a mask: a title, a sentence, its source, and lines with numbers."""

    title: str
    words: str
    source: str
    figures: Sequence[str]
    in_force: bool = False


def mask_cards(
    visible: np.ndarray, cards: Sequence[MaskCard], *, clickable: bool = False
) -> CanvasPicture:
    """Return drawings of masks with their texts; `visible` [mask, query, key] is true if open.

    If the drawings are `clickable`, a click on one answers with its index.
    """
    positions = [str(position + 1) for position in range(visible.shape[-1])]
    header = {
        "cards": [asdict(card) for card in cards],
        "size": len(positions),
        "clickable": clickable,
    }
    axes = {"mask": [card.title for card in cards], "query": positions, "key": positions}
    return CanvasPicture.pack(
        PART,
        header,
        visible.astype(np.uint8),
        height=210 * -(-len(cards) // 3),
        numbers={"visible": Numbers(visible, axes)},
    )
