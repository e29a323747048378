"""Keeps Streamlit from asking a host on the internet for this machine's address.

It would ask before it refuses a page of another host, and all visitors would wait for the answer.

Upstream: https://github.com/streamlit/streamlit/issues/7721
Relies on: `net_util.get_external_ip`, looked up in its module at each call.
"""

from streamlit import net_util


def ask_no_other_host() -> None:
    """Have Streamlit regard this machine's external address as unknown."""
    net_util.get_external_ip = lambda: None
