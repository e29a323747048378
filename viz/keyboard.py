"""Keys that do on any page what a click would, and the sheet that lists them."""

from __future__ import annotations

from dataclasses import dataclass

from viz.canvas import CanvasPicture


@dataclass(frozen=True)
class Key:
    """A key, what it does in words, and what it clicks.

    It clicks the option `step` after the chosen one of the choice with this `label`, or else the
    first control that the CSS `selector` finds.
    """

    key: str
    words: str
    label: str = ""
    step: int = 0
    selector: str = ""


KEYS = (
    Key("h", "next head", "Head", 1),
    Key("H", "head before", "Head", -1),
    Key("l", "next layer", "Layer", 1),
    Key("L", "layer before", "Layer", -1),
    Key("k", "next kind of attention", "Kind of attention", 1),
    Key("K", "kind of attention before", "Kind of attention", -1),
    Key("t", "switch the selected head off or on", selector=".switchboard .head.selected"),
    Key("n", "next step of decoding or training", selector=".transport .forward"),
    Key("p", "step before", selector=".transport .back"),
    Key(" ", "play or pause", selector=".transport .play"),
)
NAMES = {" ": "Space"}


def keyboard() -> CanvasPicture:
    """A button that lists the keys, and the keys themselves, wherever the focus is but in a box."""
    header = {
        "keys": [{**vars(key), "name": NAMES.get(key.key, key.key)} for key in KEYS],
    }
    return CanvasPicture.pack("keyboard", header, height=40)
