"""The paths of the server that are not pages.

Upstream: no issue was found; Streamlit has no public names for its paths.
Relies on: the paths themselves, and `server.baseUrlPath` before all of them.
"""

from starlette.types import Scope
from streamlit import config

CORE = "/_stcore/"  # paths that a page requests by itself
HEALTH = f"{CORE}health"  # answers "ok" to everyone
READY = f"{CORE}ready"  # answers as soon as pages can be opened; for the proxy before it
METRICS = f"{CORE}metrics"


def public(path: str) -> str:
    """Return a path of the server in the form that visitors request."""
    base = config.get_option("server.baseUrlPath").strip("/")
    return f"/{base}{path}" if base else path


def path_of(scope: Scope) -> str:
    """Return the requested path, relative to the one that the app is served under."""
    base = config.get_option("server.baseUrlPath").strip("/")
    return scope["path"].removeprefix(f"/{base}") if base else scope["path"]
