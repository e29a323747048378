"""The part of a page that shows a room: how to enter it, and what its phones have guessed."""

from collections.abc import Sequence
from pathlib import Path

from headlight.pages.browser.parts import packed, qr_modules
from headlight.viz import CanvasPicture

BROWSER = Path(__file__).parent / "browser"


def panel(
    path: str,
    key: str,
    address: str,
    code: str,
    number: int,
    options: Sequence[str],
    asks: str = "",
) -> CanvasPicture:
    """Return the panel of a room; it fetches the counts of guesses from `path` on this server.

    The `number` and the `options` are those of the question; `asks` is its text if the page does
    not show it. Raises ValueError if the address is too long for a QR code.
    """
    modules = qr_modules(address)  # (side, side)
    header = {"path": path, "key": key, "address": address, "code": code, "asks": asks}
    header |= {"number": number, "options": list(options), "side": len(modules)}
    return packed("room", header, modules, height=150, folder=BROWSER)
