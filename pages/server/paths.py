"""The paths of the server that are no pages."""

from __future__ import annotations

from starlette.types import Scope
from streamlit import config

CORE = "/_stcore/"  # what a page asks for by itself
HEALTH = f"{CORE}health"  # says "ok" to all
METRICS = f"{CORE}metrics"


def path_of(scope: Scope) -> str:
    """Return the path that is asked for, below the one that the app is served under."""
    base = config.get_option("server.baseUrlPath").strip("/")
    return scope["path"].removeprefix(f"/{base}") if base else scope["path"]
