"""Whether the browser went to an address by itself, or does not have the page's address yet.

A browser sends its address with every click: for a while still the one before the page wrote its
own. This address is also the only sign by which a script learns that the browser went back or
forward.

Upstream: https://github.com/streamlit/streamlit/issues/13963
Relies on: `st.query_params`, which holds what the browser sent, or what this run wrote.
"""

import time

import streamlit as st

# For this long after a write, the browser may still send the previous address.
UNDERWAY = 1.0  # seconds


def gone_to() -> dict[str, str] | None:
    """Return the address if the session begins with it or the browser went to it by itself."""
    sent = dict(st.query_params)
    written, when = st.session_state.get("address", (None, 0.0))
    changed = sent and sent != written and time.monotonic() - when > UNDERWAY
    return sent if written is None or changed else None


def write(parameters: dict[str, str]) -> None:
    if dict(st.query_params) != parameters:
        know(parameters, time.monotonic())  # first: the next click may end the run here
        st.query_params.from_dict(parameters)


def know(parameters: dict[str, str], written: float = 0.0) -> None:
    """Note the parameters of the address, and when this session wrote them, if it did."""
    st.session_state.address = parameters, written
