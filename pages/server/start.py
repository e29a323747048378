"""The start of the server: its middleware, the fixes of Streamlit, and the message at the start."""

import contextlib
import gc
import sys
import webbrowser
from collections.abc import AsyncIterator
from importlib import import_module
from threading import Thread

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route
from streamlit import App, config

from headlight.pages.server import handles
from headlight.pages.server.announce import announcement, link
from headlight.pages.server.door import access_token, behind_door
from headlight.pages.server.guards import (
    bounded_uploads,
    framing_origins,
    is_behind_proxy,
    only_own_names,
    pages_loaded,
    tells_ready,
    with_policy,
)
from headlight.pages.server.open_paths import answers_open_paths
from headlight.pages.shared.runs import limits
from headlight.pages.streamlit_fixes.fixed_sections import name_sections_without_place
from headlight.pages.streamlit_fixes.late_values import pass_over_late_values
from headlight.pages.streamlit_fixes.left_sections import ignore_left_sections
from headlight.pages.streamlit_fixes.no_external_address import ask_no_other_host
from headlight.pages.streamlit_fixes.one_script_loop import share_script_loop
from headlight.pages.streamlit_fixes.one_value import look_up_one_value
from headlight.pages.streamlit_fixes.served_scripts import with_scripts
from headlight.pages.streamlit_fixes.shared_lock import share_lock
from headlight.pages.streamlit_fixes.slow_requests import drop_slow_requests
from headlight.pages.streamlit_fixes.whole_callbacks import run_callbacks_whole

# Middleware, in the order in which it gets a request.
BEFORE_PAGES = [
    Middleware(each)
    for each in (
        tells_ready,
        with_policy,
        only_own_names,
        answers_open_paths,
        behind_door,
        with_scripts,
        bounded_uploads,
    )
]


def go_to_first_page(request: Request) -> RedirectResponse:
    """Redirect from /attention, which somebody may type, to /, the address of that page."""
    return RedirectResponse(f"./?{request.url.query}")


ROUTES = [Route("/attention", go_to_first_page)]

for check in (access_token, framing_origins):
    check()  # each raises ValueError if its environment variable is invalid


def load_pages() -> None:
    """Import the code of the pages, and keep it out of garbage collections, which saves time."""
    if limits.GUEST:
        import_module("headlight.pages.parts.pages")
        return
    gc.disable()
    try:
        import_module("headlight.pages.parts.pages")
    finally:
        gc.freeze()
        gc.enable()
        pages_loaded.set()


@contextlib.asynccontextmanager
async def prepared(_app: App) -> AsyncIterator[None]:
    """Apply the fixes of Streamlit, and import pages and PyTorch in a thread while serving."""
    Thread(target=load_pages, daemon=True).start()
    ask_no_other_host()
    run_callbacks_whole()
    ignore_left_sections()
    pass_over_late_values()
    name_sections_without_place()
    share_lock()
    share_script_loop()
    drop_slow_requests()
    look_up_one_value()
    yield


@contextlib.asynccontextmanager
async def announced(app: App) -> AsyncIterator[None]:
    """Print who can open the app, and open it in a browser on this machine, unless headless."""
    handles.raise_limit()
    if not is_behind_proxy():  # behind a proxy, the parent process prints this message
        print(announcement(sys.stdout.isatty()), flush=True)
    if not config.get_option("server.headless"):
        webbrowser.open(link("localhost"))
    async with prepared(app):
        yield
