"""How much memory visitors' uploads may take, whether or not a page has asked for them."""

from collections import Counter

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config

from pages.shared.runs.limits import of_this_worker
from pages.streamlit_fixes.kept_uploads import kept_bytes
from pages.streamlit_fixes.paths import CORE, path_of

UPLOADS = f"{CORE}upload_file/"
OF_ONE, OF_ALL = 10, 40  # times the largest size of a file
TOO_MUCH = "Too much was uploaded. What a visitor uploaded is let go of when their tab is closed."


def bounded_uploads(app: ASGIApp) -> ASGIApp:
    """Refuse a file if a visitor, or all visitors together, have uploaded too much already."""
    coming: Counter[str] = Counter()  # uploads that have begun, by session

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        path = path_of(scope) if scope["type"] == "http" and scope["method"] == "PUT" else ""
        if not path.startswith(UPLOADS):
            return await app(scope, receive, send)
        session = path.removeprefix(UPLOADS).partition("/")[0]
        largest = config.get_option("server.maxUploadSize") * 1024**2
        kept = kept_bytes()
        of_one = kept[session] + largest * coming[session]
        of_all = kept.total() + largest * coming.total()
        too_much = of_one + largest > OF_ONE * largest
        if too_much or of_all + largest > of_this_worker(OF_ALL) * largest:
            return await PlainTextResponse(TOO_MUCH, 413)(scope, receive, send)
        coming[session] += 1
        try:
            return await app(scope, receive, send)
        finally:
            coming[session] -= 1
            if not coming[session]:
                del coming[session]

    return guard
