"""The head on which the app has opened for the visitor: no other page needs to keep it."""

import streamlit as st

from model.trace import Kind
from pages.shared.link import address
from pages.shared.state.choices import HEAD, LAYER, chosen, put, select_head

DEFAULTS = LAYER.default, HEAD.default


def open_on(kind: Kind, layer: int, head: int) -> None:
    """Choose a head, from 0, for a visitor who has chosen none."""
    select_head(kind, layer, head)
    st.session_state.opened_on = layer, head
    st.session_state.opened_after = address.applied()


def set_aside() -> None:
    """If the head is the app's choice, choose the defaults, on a page with a meaning of its own."""
    if _is_opening(chosen(LAYER), chosen(HEAD)):
        _choose(*DEFAULTS)
        st.session_state.set_aside = True


def take_up() -> None:
    """Choose the head again that was set aside, unless another one was chosen since."""
    aside = st.session_state.pop("set_aside", False)
    if aside and (chosen(LAYER), chosen(HEAD)) == DEFAULTS:
        _choose(*st.session_state.opened_on)


def _is_opening(*place: int | str) -> bool:
    """Return whether the app has opened on a layer and head, and no link or slide came since."""
    state = st.session_state
    return state.get("opened_on") == place and state.opened_after == address.applied()


def _choose(layer: int | str, head: int | str) -> None:
    put(LAYER, layer)
    put(HEAD, head)
