"""Ends the sessions of visitors who have left, even if no other visitor comes.

Streamlit keeps such a session for two minutes, in case the browser only lost its connection. But it
checks the time only when another visitor comes or goes, so it may keep a session for ever.

Upstream: https://github.com/streamlit/streamlit/issues/12506
Relies on: the runtime's event loop, its `MemorySessionStorage`, whose `_cache` is a TTLCache, and
four private fields of `AppSession` that contain what a visitor typed and made.
"""

from asyncio import AbstractEventLoop
from collections.abc import Callable
from functools import cache
from typing import Any

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime import Runtime, exists, get_instance
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.state import SessionState

EVERY = 15.0  # seconds between two checks


def watch(ended: Callable[[], None]) -> None:
    """Check for abandoned sessions from now on, and end them; call `ended` after ending some.

    Without a server this does nothing.
    """
    if exists() and type(runtime := get_instance()) is Runtime:
        _watch(runtime, ended)


@cache
def _watch(runtime: Runtime, ended: Callable[[], None]) -> None:
    loop = runtime._get_async_objs().eventloop  # only the loop's thread may change sessions
    manager: Any = runtime._session_mgr  # in fact a WebsocketSessionManager
    loop.call_soon_threadsafe(_look, loop, manager._session_storage, ended)


def _look(
    loop: AbstractEventLoop, storage: MemorySessionStorage, ended: Callable[[], None]
) -> None:
    loop.call_later(EVERY, _look, loop, storage, ended)
    if end_what_was_left(storage):
        ended()


def end_what_was_left(storage: MemorySessionStorage) -> int:
    """End the sessions whose visitors left two minutes ago or earlier; return their number."""
    cache: Any = storage._cache  # in fact a TTLCache
    left = [info.session for _, info in cache.expire()]
    for session in left:
        end(session)
    return len(left)


def end(session: AppSession) -> None:
    """Shut down a session, and remove everything that its visitor typed and made."""
    session.shutdown()
    session._session_state = SessionState()
    session._fragment_storage = MemoryFragmentStorage()
    session._client_state = ClientState()
    session._browser_queue.clear()
