"""The server's paths that are not pages, such as the one that answers whether it is up.

Upstream: no issue was found; Streamlit has no public names for its paths.
Relies on: the paths themselves, and `server.baseUrlPath` before all of them.
"""

from starlette.types import Scope
from streamlit import config

CORE = "/_stcore/"  # the beginning of all paths that a page's scripts request
HEALTH = f"{CORE}health"  # answers "ok" to everyone
READY = f"{CORE}ready"  # tells the proxy whether pages can be opened
METRICS = f"{CORE}metrics"


def public(path: str) -> str:
    """Return a path with the base path of the app before it, as browsers request it."""
    base = config.get_option("server.baseUrlPath").strip("/")
    return f"/{base}{path}" if base else path


def path_of(scope: Scope) -> str:
    """Return the path of a request, without the base path of the app."""
    base = config.get_option("server.baseUrlPath").strip("/")
    return scope["path"].removeprefix(f"/{base}") if base else scope["path"]
