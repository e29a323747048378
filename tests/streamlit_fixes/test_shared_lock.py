"""Runs that share a session's state take turns at it."""

from threading import Event, Thread

import pytest
from streamlit.runtime.state import SessionState
from streamlit.runtime.state.safe_session_state import SafeSessionState

from headlight.pages.streamlit_fixes.shared_lock import LOCKS, share_lock

SECONDS = 20


@pytest.fixture
def shared(monkeypatch):
    monkeypatch.setattr(SafeSessionState, "__init__", SafeSessionState.__init__)  # put back
    copy = SafeSessionState.filtered_state.fget
    own = property(getattr(copy, "__wrapped__", copy))  # which goes through all of the state
    monkeypatch.setattr(SafeSessionState, "filtered_state", own)
    share_lock()


def run_of(state):
    return SafeSessionState(state, lambda: None)


def test_a_run_waits_while_another_one_goes_through_the_state(shared):
    state, begun, may_end, order = SessionState(), Event(), Event(), []
    old, new = run_of(state), run_of(state)

    class Slow(dict):
        def __iter__(self):
            begun.set()
            assert may_end.wait(SECONDS)
            order.append("read")
            return super().__iter__()

    state._new_session_state = Slow()

    def write():
        new["key"] = "value"
        order.append("written")

    reading = Thread(target=lambda: old.filtered_state)
    reading.start()
    assert begun.wait(SECONDS)
    writing = Thread(target=write)
    writing.start()
    writing.join(0.2)
    assert writing.is_alive()
    may_end.set()
    for thread in (reading, writing):
        thread.join(SECONDS)
    assert order[-1] == "written"
    assert new["key"] == "value"


def test_other_sessions_do_not_wait_and_no_lock_outlives_its_runs(shared):
    mine, yours = SessionState(), SessionState()
    runs = [run_of(mine), run_of(mine), run_of(yours)]
    locks = [id(run._lock) for run in runs]
    assert locks[0] == locks[1] != locks[2]
    assert id(mine) in LOCKS
    del runs
    assert id(mine) not in LOCKS
    assert id(yours) not in LOCKS


def test_streamlit_still_gives_each_run_its_own_lock(monkeypatch):
    begin = SafeSessionState.__init__
    plain = getattr(begin, "__wrapped__", begin)
    monkeypatch.setattr(SafeSessionState, "__init__", plain)
    state = SessionState()
    assert run_of(state)._lock is not run_of(state)._lock, (
        "Streamlit shares the lock of a state: delete shared_lock.py."
    )
