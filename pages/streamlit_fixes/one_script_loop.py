"""Lets all sessions share one event loop, which saves file handles.

Streamlit makes an event loop for each session, which takes three of the file handles that a process
may have, until two minutes after the visitor has left. No script runs this loop.

Upstream: no issue was found.
Relies on: `AppSession._script_event_loop`, which is set in the thread of a script but never run,
and `app_session._close_script_event_loop`, which closes it when its session ends.
"""

import asyncio
from collections.abc import Callable
from functools import cache

from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession

from headlight.pages.streamlit_fixes.replace import replace

shared_loop = cache(asyncio.new_event_loop)


def share_script_loop() -> None:
    """Have all new sessions use one event loop, which is never closed."""
    replace(AppSession, "__init__", _begin_with_shared)
    replace(app_session, "_close_script_event_loop", lambda close, loop: None)


def _begin_with_shared(
    begin: Callable[..., None], session: AppSession, *values: object, **more: object
) -> None:
    begin(session, *values, **more)
    session._script_event_loop.close()
    session._script_event_loop = shared_loop()
