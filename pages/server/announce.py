"""What the terminal says when the server starts: its address, and to whom it is open."""

from __future__ import annotations

import io
import sys
from urllib.parse import urlencode

import segno
from streamlit import config, net_util
from streamlit.web.server.server_util import get_url

from pages.server.door import PARAMETER, access_token
from pages.server.hosts import open_to_others
from pages.shared.runs.limits import OTHER_MODELS

WILDCARDS = ("0.0.0.0", "::", None)


def announcement() -> str:
    """Return the lines of the terminal; a log, which others may read, gets no token."""
    if not open_to_others():
        return lines(link("localhost"), "Open to this machine alone; `make share` opens it to others.")
    if not sys.stdout.isatty():
        return lines(get_url(name_for_others()), to_whom())
    address = link(name_for_others())
    return lines(address, to_whom(), models()) + code(address)


def to_whom() -> str:
    if access_token():
        return "Open to whoever reaches this machine with a link that holds its token."
    return "Open to everyone who reaches this machine: HEADLIGHT_TOKEN, or `make share`, sets a token."


def models() -> str:
    if OTHER_MODELS:
        return (
            "They may have it load models of the hub and of this disk: "
            "HEADLIGHT_OTHER_MODELS=off takes that away."
        )
    return "No models but those that come with it can be loaded."


def lines(*texts: str) -> str:
    return "".join(f"\n  {text}" for text in ("Headlight: " + texts[0], *texts[1:])) + "\n"


def name_for_others() -> str:
    """Return the name or address by which others reach this machine."""
    if config.is_manually_set("browser.serverAddress"):
        return config.get_option("browser.serverAddress")
    address = config.get_option("server.address")
    return net_util.get_internal_ip() if address in WILDCARDS else address


def link(name: str) -> str:
    """Return the address of the app, with the token that opens it."""
    token = access_token()
    return f"{get_url(name)}/?{urlencode({PARAMETER: token})}" if token else get_url(name)


def code(text: str) -> str:
    """Return a text as a QR code for the terminal."""
    drawn = io.StringIO()
    segno.make(text, micro=False).terminal(drawn, compact=True)
    return drawn.getvalue()
