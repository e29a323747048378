"""The part of a page that locks its controls."""

from collections.abc import Sequence
from pathlib import Path

from headlight.pages.browser.parts import packed
from headlight.viz import CanvasPicture

BROWSER = Path(__file__).parent / "browser"


def locks(open_keys: Sequence[str], *, buttons: bool) -> CanvasPicture:
    """Return the part that locks all controls except `open_keys`; `buttons` leaves buttons open."""
    return packed("locks", {"open": list(open_keys), "buttons": buttons}, height=0, folder=BROWSER)
