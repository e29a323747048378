"""Tells whether a visitor went to an address, or the browser sent an outdated one.

A browser sends its address with every click. After the page has written a new address, clicks may
still come with the old one. A step back or forward in the history is marked in Streamlit's run, so
it is recognized however slow the network is.

Upstream: https://github.com/streamlit/streamlit/issues/13963
Relies on: `st.query_params`, which has what the browser sent or what this run wrote, and
`is_history_navigation` of a run's context.
"""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx


def gone_to() -> dict[str, str] | None:
    """Return the address that the visitor opened first, or went to by a step back or forward.

    Later runs return the same address until `know` or `write` records one, and None from then on: a
    click may end this run before the address is used.
    """
    sent = dict(st.query_params)  # empty after a click on a link to another page
    if (sent and _went()) or "address" not in st.session_state:
        st.session_state.going_to = sent
    return st.session_state.get("going_to")


def is_behind() -> bool:
    """Return whether the browser sent an outdated address; to be called in a widget's callback."""
    return dict(st.query_params) != st.session_state.get("address", {})


def write(parameters: dict[str, str]) -> None:
    """Show an address in the browser, unless it is shown there and no other is on its way."""
    newest = st.session_state.get("address", parameters)
    if _went() or not dict(st.query_params) == parameters == newest:
        know(parameters)  # recorded first: at the next line, another click may end the run
        st.query_params.from_dict(parameters)


def _went() -> bool:
    """Return whether a step back or forward in the browser's history started this run."""
    run = get_script_run_ctx()
    return run is not None and run.is_history_navigation


def know(parameters: dict[str, str]) -> None:
    """Record an address as the newest one."""
    st.session_state.address = parameters
    st.session_state.pop("going_to", None)
