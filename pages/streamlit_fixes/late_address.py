"""Whether the browser went to an address by itself, or does not have the page's address yet.

A browser sends its address with every click: for a while still the one before the page wrote its
own. A step back or forward is known by a mark of its run, however slow the network is.

Upstream: https://github.com/streamlit/streamlit/issues/13963
Relies on: `st.query_params`, which holds what the browser sent, or what this run wrote, and
`is_history_navigation` of a run's context.
"""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx


def gone_to() -> dict[str, str] | None:
    """Return the address that the session begins with, or that the browser went back or forward to.

    It is returned until `know` or `write` notes an address, because a click may end this run.
    """
    sent = dict(st.query_params)  # empty after a click on another page, which keeps the choices
    if (sent and _went()) or "address" not in st.session_state:
        st.session_state.going_to = sent
    return st.session_state.get("going_to")


def is_behind() -> bool:
    """Return whether the browser did not have the newest address when it asked; for a callback."""
    return dict(st.query_params) != st.session_state.get("address", {})


def write(parameters: dict[str, str]) -> None:
    """Have the browser show an address, also if it sent this one while another is on its way."""
    newest = st.session_state.get("address", parameters)
    if _went() or not dict(st.query_params) == parameters == newest:
        know(parameters)  # first: the next click may end the run here
        st.query_params.from_dict(parameters)


def _went() -> bool:
    """Return whether the browser went back or forward for this run."""
    run = get_script_run_ctx()
    return run is not None and run.is_history_navigation


def know(parameters: dict[str, str]) -> None:
    """Note the newest address."""
    st.session_state.address = parameters
    st.session_state.pop("going_to", None)
