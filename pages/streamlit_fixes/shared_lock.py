"""All runs of a session hold one lock while they read or write the session's state.

A page that is reloaded starts a new run while the old one may still be ending. Streamlit gives each
its own lock around the same state: one changes a dictionary while the other goes through it, and
the visitor sees "dictionary changed size during iteration".

Upstream: no issue was found.
Relies on: `SafeSessionState._lock`, held around every access to the state.
"""

from collections.abc import Callable
from threading import RLock
from typing import Any
from weakref import WeakValueDictionary

from streamlit.runtime.state import SessionState
from streamlit.runtime.state.safe_session_state import SafeSessionState

from headlight.pages.streamlit_fixes.replace import replace

# By the id of a state, which no other state takes while a run of it has the lock.
LOCKS: WeakValueDictionary[int, Any] = WeakValueDictionary()


def share_lock() -> None:
    """Have Streamlit hold the same lock in all runs that share a state."""
    replace(SafeSessionState, "__init__", _begin_with_lock)


def _begin_with_lock(
    begin: Callable[..., None],
    runs: SafeSessionState,
    state: SessionState,
    *values: object,
    **more: object,
) -> None:
    begin(runs, state, *values, **more)
    object.__setattr__(runs, "_lock", LOCKS.setdefault(id(state), RLock()))
