"""Makes all runs of a session use one lock when they read or write the session's state.

A page that is reloaded starts a new run while the old one may still be ending. In Streamlit each
run has its own lock for the same state. One run may change a dictionary while the other iterates
over it, and the visitor sees "dictionary changed size during iteration".

Upstream: no issue was found.
Relies on: `SafeSessionState._lock`, which is held during every access to the state.
"""

from collections.abc import Callable
from threading import RLock
from typing import Any
from weakref import WeakValueDictionary

from streamlit.runtime.state import SessionState
from streamlit.runtime.state.safe_session_state import SafeSessionState

from headlight.pages.streamlit_fixes.replace import replace

# The lock of each state, by the state's id(). While a run keeps a lock, it keeps the state, too: no
# other state can have this id.
LOCKS: WeakValueDictionary[int, Any] = WeakValueDictionary()


def share_lock() -> None:
    """Have Streamlit use the same lock in all runs that share a state."""
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
