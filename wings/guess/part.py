"""The part of a page that asks a question and takes a guess."""

from collections.abc import Sequence
from pathlib import Path

from headlight.pages.browser.parts import packed
from headlight.viz import CanvasPicture

BROWSER = Path(__file__).parent / "browser"


def question(
    asks: str,
    options: Sequence[tuple[str, str]] = (),
    boards: Sequence[tuple[str, int, int]] = (),
    said: str = "",
) -> CanvasPicture:
    """Return a question with a button for each option, given as its text and its description.

    Options that are heads are drawn as tables: each of the `boards` has a label, and numbers of
    layers and heads. The state `guess` of the part is the index of the clicked option, -1 after a
    click on “Show the answer”, and None before any click. After a click, `said` replaces the
    options.
    """
    header = {
        "asks": asks,
        "options": [{"text": text, "label": label} for text, label in options],
        "boards": [
            {"label": label, "layers": layers, "heads": heads} for label, layers, heads in boards
        ],
        "said": said,
    }
    return packed("guess", header, height=300, folder=BROWSER)
