"""Functions for the address and the options of the server.

Streamlit has no public functions for them.

Upstream: no issue was found.
Relies on: the three functions imported here.
"""

from streamlit.net_util import get_internal_ip
from streamlit.web.bootstrap import load_config_options
from streamlit.web.server.server_util import get_url

__all__ = ["get_internal_ip", "get_url", "load_config_options"]
