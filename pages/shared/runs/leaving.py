"""Sessions whose visitors have left end in time, whether or not another visitor comes.

Streamlit keeps such a session for two minutes, in case the browser was only cut off, but looks at
the time only when the next visitor comes or goes, and holds on to the last session it served.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop
from functools import cache

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime import Runtime, exists, get_instance
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.state import SessionState

from pages.shared.runs.housekeeping import session_ended

EVERY = 15.0  # seconds between two looks


def watch() -> None:
    """Have the server end what was left, from now on; without a server do nothing."""
    if exists() and type(runtime := get_instance()) is Runtime:
        _watch(runtime)


@cache
def _watch(runtime: Runtime) -> None:
    loop = runtime._get_async_objs().eventloop  # sessions may be touched there alone
    loop.call_soon_threadsafe(_look, loop, runtime._session_mgr._session_storage)


def _look(loop: AbstractEventLoop, storage: MemorySessionStorage) -> None:
    loop.call_later(EVERY, _look, loop, storage)
    end_what_was_left(storage)


def end_what_was_left(storage: MemorySessionStorage) -> None:
    """End the sessions that were kept for long enough, and have their memory given back."""
    left = [info.session for _, info in storage._cache.expire()]
    for session in left:
        end(session)
    if left:
        session_ended()


def end(session: AppSession) -> None:
    """Shut a session down, and empty it of all that its visitor typed and made."""
    session.shutdown()
    session._session_state = SessionState()
    session._fragment_storage = MemoryFragmentStorage()
    session._client_state = ClientState()
    session._browser_queue.clear()
