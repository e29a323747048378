"""The browser's tab remembers whose workshop it shows, so that a reload finds it again."""

from __future__ import annotations

import streamlit as st

from pages.shared import address
from pages.shared.pictures import picked, show
from pages.shared.training_words import GONE
from pages.shared.workshop import come_back, workshop
from viz import kept_text

KEPT = "headlight-workshop"  # the name under which the browser's tab keeps the key


def remember() -> None:
    """Have the tab keep the key of the workshop, or ask for it where nothing is in it."""
    key = None if workshop().is_empty else workshop().key
    show(kept_text(KEPT, key), "workshop-key", _come_back)


def _come_back() -> None:
    if not workshop().is_empty:
        return
    if come_back(picked("workshop-key")):
        address.take_up_awaited()
    elif st.session_state.page == "Training":
        st.session_state.toy_refused = GONE
