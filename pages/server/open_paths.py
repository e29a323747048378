"""Paths that answer everyone, with or without the access token; wings add theirs.

With several workers, a path with a name that begins with a worker's number and a dash, such as
`/room/2-ABCD`, is answered by that worker.
"""

from starlette.types import ASGIApp, Receive, Scope, Send

from headlight.pages.shared.runs import limits
from headlight.pages.streamlit_fixes.paths import path_of

_apps: dict[str, ASGIApp] = {}  # the app that answers, by the first name of a path


def open_to_all(name: str, app: ASGIApp) -> None:
    """Let an app answer every request for a path that begins with a name."""
    _apps[name] = app


def leads_here(name: str) -> str:
    """Return a name with this worker's number, such as 2-ABCD, if there are several workers."""
    return f"{limits.NUMBER}-{name}" if limits.WORKERS > 1 else name


def answers_open_paths(app: ASGIApp) -> ASGIApp:
    """Answer requests for the open paths, and pass on all others."""

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        names = path_of(scope).split("/") if scope["type"] == "http" else []
        await _apps.get("".join(names[1:2]), app)(scope, receive, send)

    return guard
