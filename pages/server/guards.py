"""Middleware that refuses requests, and tells a browser what it may do with the pages."""

import ipaddress
import os
import re
import socket
from collections import Counter
from fnmatch import fnmatchcase
from threading import Event
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config
from streamlit.runtime import get_instance

from headlight.pages.shared.runs.limits import BEHIND, LOOPBACK, of_this_worker, open_to_others
from headlight.pages.streamlit_fixes.inline_scripts import allowed_inline
from headlight.pages.streamlit_fixes.kept_uploads import kept_bytes
from headlight.pages.streamlit_fixes.paths import CORE, HEALTH, READY, path_of

EMBED = "HEADLIGHT_EMBED"  # the origins that may show the app in a frame
ORIGIN = re.compile(r"https?://(\*\.)?[\w-]+(\.[\w-]+)*(:(\d+|\*))?")
OTHER_NAME = (
    "Headlight does not answer to this host name. Its operator can allow the name, with "
    "--server.allowedHosts or STREAMLIT_SERVER_ALLOWED_HOSTS."
)
OTHER_PAGE = "Headlight answers only its own pages, not those of another host."
UPLOADS = f"{CORE}upload_file/"
# The most bytes that one visitor, and all visitors, may upload, as multiples of the largest file.
OF_ONE, OF_ALL = 4, 16
pages_loaded = Event()  # set once the code of the pages is loaded
TOO_MUCH = "Too much was uploaded. Close this tab to remove its uploads, and try again later."


def is_behind_proxy() -> bool:
    return BEHIND in os.environ


def tells_ready(app: ASGIApp) -> ASGIApp:
    """Answer the proxy's question whether this process is ready for visitors."""

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        answer = app
        if scope["type"] == "http" and path_of(scope) == READY:
            answer = Response(status_code=200 if pages_loaded.is_set() else 503)
        await answer(scope, receive, send)

    return guard


def only_own_names(app: ASGIApp) -> ASGIApp:
    """Refuse requests for a name that is not the server's, and requests by another host's page.

    Otherwise another host could let its own name lead to this machine, and its pages could read the
    answers as if they were pages of this server.
    """

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        answer = app
        if scope["type"] != "lifespan" and path_of(scope) != HEALTH:
            headers = Headers(scope=scope)
            host = headers.get("host", "")
            if not is_own(host):
                answer = PlainTextResponse(OTHER_NAME, 403)
            elif not is_own_page(headers.get("origin"), host):
                answer = PlainTextResponse(OTHER_PAGE, 403)
        await answer(scope, receive, send)

    return guard


def is_own(host: str) -> bool:
    """Return whether the server answers to a name, with or without a port.

    If the server is open to others, it answers to any IP address: unlike a name, nobody can let an
    address lead to another machine.
    """
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    if patterns := config.get_option("server.allowedHosts"):
        return any(fnmatchcase(name, pattern.lower()) for pattern in patterns)
    return name in LOOPBACK or (open_to_others() and (is_address(name) or name in names_of_host()))


def names_of_host() -> tuple[str, ...]:
    """Return the names by which others know this machine."""
    name = socket.gethostname().lower()
    return name, f"{name}.local", config.get_option("browser.serverAddress").lower()


def is_address(name: str) -> bool:
    """Return whether a name is an IP address."""
    try:
        return bool(ipaddress.ip_address(name))
    except ValueError:
        return False


def is_own_page(origin: str | None, host: str) -> bool:
    """Return whether a request comes from a page of this server, or of an allowed origin.

    A request without `origin` comes from no page, and is accepted.
    """
    if origin is None or origin in config.get_option("server.corsAllowedOrigins"):
        return True
    try:
        return urlsplit(origin).netloc.lower() == host.lower()
    except ValueError:
        return False


def bounded_uploads(app: ASGIApp) -> ASGIApp:
    """Refuse a file if one visitor, or all visitors together, have uploaded too much.

    All bytes that were received count until their visitor leaves.
    """
    coming: Counter[str] = Counter()  # by session: the bytes received of unfinished uploads

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        path = path_of(scope) if scope["type"] == "http" and scope["method"] == "PUT" else ""
        if not path.startswith(UPLOADS):
            return await app(scope, receive, send)
        session = path.removeprefix(UPLOADS).partition("/")[0]
        largest = config.get_option("server.maxUploadSize") * 1024**2
        own: Counter[str] = Counter()

        def has_room(size: int) -> bool:
            taken = kept_bytes() + coming
            of_all = of_this_worker(OF_ALL) * largest
            return taken[session] + size <= OF_ONE * largest and taken.total() + size <= of_all

        async def counted() -> Message:
            message = await receive()
            size = len(message.get("body", b""))
            if not (has_room(size) and get_instance().is_active_session(session)):
                raise HTTPException(413, TOO_MUCH)
            own[session] += size
            coming[session] += size
            return message

        declared = Headers(scope=scope).get("content-length", "")
        if not has_room(int(declared) if declared.isdecimal() else 0):
            return await PlainTextResponse(TOO_MUCH, 413)(scope, receive, send)
        try:
            await app(scope, counted, send)
        except ClientDisconnect:
            pass  # the browser has closed the connection
        finally:
            coming.subtract(own)
            if not coming[session]:
                del coming[session]

    return guard


def framing_origins() -> tuple[str, ...]:
    """Return the origins that may show this app in a frame; raises ValueError if one is invalid."""
    origins = tuple(os.environ.get(EMBED, "").replace(",", " ").split())
    for origin in origins:
        if not ORIGIN.fullmatch(origin):
            raise ValueError(
                f"{EMBED} has {origin!r}, but takes origins such as https://slides.example.org"
            )
    return origins


def content_policy() -> str:
    """Return the content security policy, which says what the pages may load and run."""
    # 'self': the app shows its own slides in frames, to make small pictures of them.
    framing = " ".join(("'self'", *framing_origins()))
    return "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' blob: 'wasm-unsafe-eval' {allowed_inline()}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' blob: data:",
            "font-src 'self' data:",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'self'",
            f"frame-ancestors {framing}",
        )
    )


def with_policy(app: ASGIApp) -> ASGIApp:
    """Add headers to every answer that say what a browser may do with it."""
    headers = {
        "content-security-policy": content_policy(),
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",  # because the address of a page has what visitors typed
        "cross-origin-opener-policy": "same-origin",
    }
    if not framing_origins():
        headers["x-frame-options"] = "SAMEORIGIN"
    added = [(name.encode(), text.encode()) for name, text in headers.items()]

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            if message["type"].endswith("http.response.start"):
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await app(scope, receive, sent)

    return answer
