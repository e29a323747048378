"""The browser's tab remembers whose workshop it shows, so that a reload finds it again."""

from __future__ import annotations

import streamlit as st

from pages.browser.parts import kept_text
from pages.shared.link import address
from pages.shared.show.pictures import picked, show
from pages.shared.state.page import shown
from pages.shared.state.slide import draw_anew
from pages.shared.state.workshop import come_back, is_of_this_server, workshop

KEPT = "headlight-workshop"  # the name under which the browser's tab keeps the key
GONE = "The models trained or uploaded in this tab are gone: "
LEFT = GONE + "they are released a few minutes after the tab was closed or lost its connection."
RESTARTED = GONE + "the server was started anew since, or another one answers now."


def remember() -> None:
    """Have the tab keep the key of the workshop, or ask for it if nothing is in it."""
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
        draw_anew()  # the slide that is shown may be of what came back
        if awaited:
            address.go_again(awaited)
    else:
        workshop().gone = True
        if shown().key == "training":
            workshop().refused = LEFT if is_of_this_server(str(key)) else RESTARTED
