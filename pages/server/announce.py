"""The message in the terminal when the server starts: its address, and who can open it."""

import io
from urllib.parse import urlencode

import segno
from streamlit import config

from headlight.pages.server.door import PARAMETER, access_token
from headlight.pages.server.handles import few_visitors
from headlight.pages.shared.runs.limits import open_to_others
from headlight.pages.streamlit_fixes.own_address import get_internal_ip, get_url

EVERY_NETWORK = ("0.0.0.0", "::", None)
HERE = "Open to this machine only; `headlight --share` or `make share` opens it to others."
WITH_TOKEN = "Open to everyone who can reach this machine and has the link with the token."
IN_A_LOG = (
    "The token is not written to a log. Start Headlight in a terminal, which shows the link, or "
    "set HEADLIGHT_TOKEN yourself and open {address}/?token=TOKEN with it."
)
TO_ALL = "Open to everyone who can reach this machine; `headlight --share` asks for a token."


def announcement(on_terminal: bool) -> str:
    """Return the message that the server prints when it starts.

    It has the token only if it is printed on a terminal, because others may read a log.
    """
    if not open_to_others():
        return said(link("localhost", on_terminal), HERE)
    address = link(name_for_others(), on_terminal)
    if access_token() and not on_terminal:
        return said(address, WITH_TOKEN, IN_A_LOG.format(address=address))
    note = WITH_TOKEN if access_token() else TO_ALL
    return said(address, note) + (qr_code(address) if on_terminal else "")


def said(address: str, *notes: str) -> str:
    lines = (f"Headlight: {address}", *notes, few_visitors())
    return "".join(f"\n  {line}" for line in lines if line) + "\n"


def name_for_others() -> str:
    """Return the name or address by which others reach this machine."""
    if config.is_manually_set("browser.serverAddress"):
        return config.get_option("browser.serverAddress")
    address = config.get_option("server.address")
    return (get_internal_ip() if address in EVERY_NETWORK else address) or "localhost"


def link(name: str, with_token: bool = True) -> str:
    token = access_token() if with_token else ""
    return f"{get_url(name)}/?{urlencode({PARAMETER: token})}" if token else get_url(name)


def qr_code(text: str) -> str:
    """Return a QR code of a text for a terminal, in white on black in every terminal."""
    drawn = io.StringIO()
    segno.make(text, micro=False).terminal(drawn, compact=True)
    rows = drawn.getvalue().splitlines()
    return "\n" + "".join(f"  \033[97;40m{row}\033[0m\n" for row in rows)
