"""Sessions of the app for tests: AppTest by itself gives all of its runs the same one."""

from contextlib import contextmanager
from unittest.mock import patch

from streamlit.runtime.caching.cache_resource_api import clear_session_cache


@contextmanager
def session(name):
    """Have what runs inside belong to the session of that name."""
    here = "streamlit.runtime.caching.cache_resource_api.get_session_id_or_throw"
    with patch(here, lambda: name):
        yield


def end(name):
    """End a session, as Streamlit does when a visitor has gone."""
    clear_session_cache(name)
