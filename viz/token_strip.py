"""A text and the tokens a model sees in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from viz.canvas import CanvasPicture


@dataclass(frozen=True)
class Chip:
    """One token: its text, whether it goes on the word before it, what kind it is, and whether it
    differs from an earlier version of the text.
    """

    text: str
    joined: bool = False
    kind: Literal["piece", "special", "unknown"] = "piece"
    changed: bool = False


def token_strip(text: str, chips: Sequence[Chip], *, label: str) -> CanvasPicture:
    """A label, the text in large letters, and its tokens as a row of chips."""
    header = {"text": text, "label": label, "chips": [asdict(chip) for chip in chips]}
    return CanvasPicture.pack("token_strip", header, height=120)
