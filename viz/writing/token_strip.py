"""A text and the tokens a model sees in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from headlight.viz.canvas import CanvasPicture, Part

PART = Part.next_to(__file__)
ChipKind = Literal["piece", "special", "unknown", "mask"]


@dataclass(frozen=True)
class Chip:
    """A token of a text as a chip.

    It has its text, whether it continues the word before it, its kind, whether it differs from an
    earlier version of the text, the number of its sentence if that counts, and how likely the model
    found it when it wrote it.
    """

    text: str
    joined: bool = False
    kind: ChipKind = "piece"
    changed: bool = False
    segment: int | None = None
    probability: float | None = None


def token_strip(
    text: str,
    chips: Sequence[Chip],
    *,
    label: str,
    clickable: bool = False,
    explained: bool = True,
    framed: bool = False,
) -> CanvasPicture:
    """A label, the text in large letters, and its tokens as a row of chips.

    A click on a `clickable` chip, except special tokens, answers with its index in the row. Chips
    with a probability are shaded, more strongly the less likely they are, and show it on hovering;
    the meaning of the shades is written below if they are to be `explained`. So is the meaning of
    frames, around chips that changed, if there are any here or in another strip: `framed`.
    """
    header = {
        "text": text,
        "label": label,
        "chips": [vars(chip) for chip in chips],
        "clickable": clickable,
        "explained": explained,
        "framed": framed or any(chip.changed for chip in chips),
    }
    return CanvasPicture.pack(PART, header, height=120)
