"""Serves scripts that browsers fetch once and cache.

Streamlit sends the code of a component with every message of a page, and has browsers fetch the
files of components again at every visit.

Upstream: https://github.com/streamlit/streamlit/issues/5768
Relies on: paths below `_stcore/`, which the app's own middleware answers before Streamlit does.
"""

import gzip

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from headlight.pages.streamlit_fixes.paths import CORE, path_of, public

SENT = {
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "private, max-age=31536000, immutable",  # the script of a name never changes
    "vary": "accept-encoding",
}

_scripts: dict[str, tuple[bytes, bytes]] = {}  # by path: the script's bytes, plain and compressed


def published(name: str, script: str) -> str:
    """Serve a script to everyone who may open pages; return its address.

    A changed script needs a new name, because browsers cache scripts by their address.
    """
    path = f"{CORE}{name}.js"
    text = script.encode()
    _scripts[path] = text, gzip.compress(text)
    return public(path)


def with_scripts(app: ASGIApp) -> ASGIApp:
    """Answer requests for published scripts."""

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        script = _scripts.get(path_of(scope)) if scope["type"] == "http" else None
        if script is None:
            return await app(scope, receive, send)
        text, compressed = script
        if "gzip" in Headers(scope=scope).get("accept-encoding", ""):
            answer = Response(compressed, headers={**SENT, "content-encoding": "gzip"})
        else:
            answer = Response(text, headers=SENT)
        return await answer(scope, receive, send)

    return guard
