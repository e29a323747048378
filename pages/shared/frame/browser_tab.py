"""The browser's tab remembers its visitor's workshop, so that a reload returns to it."""

import streamlit as st

from pages.browser.parts import kept_text
from pages.shared.link import address
from pages.shared.show.pictures import picked, show
from pages.shared.state.page import shown
from pages.shared.state.wings import wings
from pages.shared.state.workshop import come_back, is_of_this_server, workshop

KEPT = "headlight-workshop"  # the name under which the browser's tab keeps the key
GONE = "The models trained or uploaded in this tab are gone: "
LEFT = GONE + "they are released a few minutes after the tab was closed or lost its connection."
RESTARTED = GONE + "the server was started anew since, or another one answers now."


def remember() -> None:
    """Have the tab keep the key of the workshop, or ask for it if the workshop is empty."""
    key = workshop().key
    if workshop().is_empty:
        key = "" if workshop().gone else None
    show(kept_text(KEPT, key), "workshop-key", _come_back)


def _come_back() -> None:
    key = picked("workshop-key")
    if key is None:  # the connection was lost for a while
        return
    awaited = st.session_state.pop("awaited", None)
    if key == workshop().key or not workshop().is_empty:
        return
    if come_back(key):
        for wing in wings():
            wing.renew()
        if awaited:
            address.go_again(awaited)
    else:
        workshop().gone = True
        if shown().key == "training":
            workshop().refused = LEFT if is_of_this_server(str(key)) else RESTARTED
