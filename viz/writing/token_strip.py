"""Show a text and the tokens that a model reads in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from headlight.viz.canvas import CanvasPicture, Part

PART = Part.next_to(__file__)
ChipKind = Literal["piece", "special", "unknown", "mask"]


@dataclass(frozen=True)
class Chip:
    """A token of a text, drawn as a chip.

    `joined` is True if it continues the word of the chip before it, `changed` if it differs from
    another version of the text. `segment` is the number of its sentence, for models that read pairs
    of sentences. `probability` is the model's for this token, if the model wrote it.
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
    """Draw a label, the text in large letters, and its tokens as a row of chips.

    If the strip is `clickable`, a click on a chip other than a special token sends its index in the
    row. Chips with a probability are shaded, the darker the less likely, and show it on hovering.
    The legend below says what shades mean if they are to be `explained`. It says what the frames of
    changed chips mean if there are any, or if `framed`, because another strip has some.
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
