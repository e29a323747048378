"""What a browser may do with the pages: what they load, and who may show them in a frame."""

import os
import re

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headlight.pages.streamlit_fixes.inline_scripts import allowed_inline

VARIABLE = "HEADLIGHT_EMBED"
ORIGIN = re.compile(r"https?://(\*\.)?[\w-]+(\.[\w-]+)*(:(\d+|\*))?")


def framing_origins() -> tuple[str, ...]:
    """Return the origins that may show this app in a frame; raise ValueError for anything else."""
    origins = tuple(os.environ.get(VARIABLE, "").replace(",", " ").split())
    for origin in origins:
        if not ORIGIN.fullmatch(origin):
            raise ValueError(
                f"{VARIABLE} holds {origin!r}, but takes origins such as https://slides.example.org"
            )
    return origins


def content_policy() -> str:
    """Return the content security policy: what the pages may load and run."""
    framing = " ".join(framing_origins()) or "'none'"
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
    """Add to every answer the headers that say what a browser may do with it."""
    headers = {
        "content-security-policy": content_policy(),
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",  # an address contains what its visitor typed
        "cross-origin-opener-policy": "same-origin",
    }
    if not framing_origins():
        headers["x-frame-options"] = "DENY"
    added = [(name.encode(), text.encode()) for name, text in headers.items()]

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            if message["type"].endswith("http.response.start"):
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await app(scope, receive, sent)

    return answer
