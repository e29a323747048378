"""The access token: a visitor whose link has the token is let in, and gets a cookie."""

import hmac
import os
from html import escape
from urllib.parse import quote, urlencode

from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from headlight.pages.server.guards import framing_origins
from headlight.pages.shared.runs import limits
from headlight.pages.streamlit_fixes.paths import CORE, HEALTH, METRICS, path_of

VARIABLE = "HEADLIGHT_TOKEN"
PARAMETER = "token"
COOKIE = "headlight_door"
SHORTEST = 12  # the fewest characters of a token, so that nobody can guess it during a lecture
CLOSED = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Headlight</title>
<style>
  :root { color-scheme: light dark; font-family: sans-serif; line-height: 1.5; }
  main { max-width: 26rem; margin: 20vh auto; padding: 0 1rem; }
  input, button { font: inherit; padding: 0.4rem 0.6rem; }
</style>
<main>
  <h1>Headlight</h1>
  <p>This Headlight opens with a link that contains a token. Ask the person who shared it for the
  link, or enter the token:</p>
  WRONG
  <form>HIDDEN<input name="token" aria-label="Token" autocomplete="off" autofocus required>
  <button>Open</button></form>
</main>
</html>
"""
WRONG = '<p role="alert">This is not the right token.</p>'


def access_token() -> str:
    """Return the token that opens the app, or "" if the app is open to all.

    Raises ValueError for a token that is short enough to be guessed.
    """
    token = os.environ.get(VARIABLE, "").strip()
    if token and len(token) < SHORTEST:
        raise ValueError(f"{VARIABLE} is too short: take at least {SHORTEST} random characters.")
    return token


def behind_door(app: ASGIApp) -> ASGIApp:
    """Let in visitors who have the token in the address, or the cookie that they got for it.

    The token is then removed from the page's address, so that copied links do not contain it.
    Everyone may ask whether the server is up, but only visitors with a token may see its metrics.
    """
    token = access_token()
    mark = hmac.digest(token.encode(), COOKIE.encode(), "sha256").hex()

    async def door(scope: Scope, receive: Receive, send: Send) -> None:
        path = path_of(scope) if scope["type"] != "lifespan" else HEALTH
        answer = app
        if path != HEALTH:
            asked = HTTPConnection(scope)
            given = asked.query_params.get(PARAMETER)
            knows = bool(token) and same(given or "", token)
            inside = knows or same(asked.cookies.get(COOKIE, ""), mark)
            if path == METRICS and not (token and inside):
                answer = PlainTextResponse("Only visitors with a token can see the counts.", 404)
            elif token and not inside:
                answer = closed(asked)
            elif given is not None and scope["type"] == "http" and not path.startswith(CORE):
                answer = without_token(asked, mark if knows else "")
        await answer(scope, receive, send)

    return door


def same(given: str, expected: str) -> bool:
    """Return whether two texts are equal, in a time that does not depend on where they differ."""
    return hmac.compare_digest(given.encode(), expected.encode())


def closed(asked: HTTPConnection) -> Response:
    """Return the page that asks for the token; it keeps the other parameters of the address."""
    hidden = "".join(
        f'<input type="hidden" name="{escape(name)}" value="{escape(text)}">'
        for name, text in asked.query_params.multi_items()
        if name != PARAMETER
    )
    wrong = WRONG if PARAMETER in asked.query_params else ""
    page = CLOSED.replace("WRONG", wrong).replace("HIDDEN", hidden)
    return HTMLResponse(page, 403, {"cache-control": "no-store"})


def without_token(asked: HTTPConnection, mark: str) -> Response:
    """Return a redirect to the same address without the token; it sets the cookie to `mark`."""
    rest = [pair for pair in asked.query_params.multi_items() if pair[0] != PARAMETER]
    # Only one slash at the beginning: after two, a browser expects the name of a host.
    path = quote("/" + asked.scope["path"].lstrip("/\\"))
    if limits.GUEST:  # a notebook's proxy may have removed the beginning of the path
        path = "." + path[path.rindex("/") :]
    way = RedirectResponse(f"{path}?{urlencode(rest)}" if rest else path, 303)
    way.headers["cache-control"] = "no-store"
    if mark:
        # Without a path, the cookie is valid in the folder that the browser sees.
        path = "" if limits.GUEST else "Path=/; "
        way.headers["set-cookie"] = f"{COOKIE}={mark}; {path}HttpOnly; {reach(asked)}"
    return way


def reach(asked: HTTPConnection) -> str:
    """Return the attributes of the cookie that decide where a browser sends it.

    If other sites may show the app in a frame, the cookie is sent there, too, over HTTPS only.
    """
    forwarded = asked.headers.get("x-forwarded-proto", "")
    if "https" not in (asked.url.scheme, forwarded):
        return "SameSite=Lax"
    return "SameSite=None; Secure; Partitioned" if framing_origins() else "SameSite=Lax; Secure"
