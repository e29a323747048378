"""A visitor takes no handles besides the connection."""

import asyncio
import os

import pytest
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.script_data import ScriptData
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from headlight.pages.streamlit_fixes.one_script_loop import share_script_loop, shared_loop
from tests.apart import run_apart


@pytest.fixture
def plain(monkeypatch):
    """Streamlit as it comes; what a test does to it is put back."""
    for owner, name in ((AppSession, "__init__"), (app_session, "_close_script_event_loop")):
        function = getattr(owner, name)
        monkeypatch.setattr(owner, name, getattr(function, "__wrapped__", function))


def handles_of_visitors(count):
    """The handles that are open with many visitors, and after they have left, more than before."""

    async def visit():
        files = MemoryUploadedFileManager("/upload")
        sessions = WebsocketSessionManager(MemorySessionStorage(), files, ScriptCache(), None)
        before = len(os.listdir("/dev/fd"))
        names = [
            sessions.connect_session(None, ScriptData("app.py", False), {}) for _ in range(count)
        ]
        inside = len(os.listdir("/dev/fd")) - before
        for name in names:
            sessions.disconnect_session(name)
        left = len(os.listdir("/dev/fd")) - before
        for name in names:
            sessions.close_session(name)
        return inside, left

    return run_apart(visit())


def test_visitors_take_no_handles_while_they_are_there_and_after_they_left(plain):
    share_script_loop()
    loop = shared_loop()
    assert handles_of_visitors(20) == (0, 0)
    assert not loop.is_closed()  # when a session has ended
    assert loop.run_until_complete(asyncio.sleep(0, "a script can run it")) == "a script can run it"


def test_streamlit_still_takes_handles_for_each_visitor(plain):
    assert handles_of_visitors(20) == (60, 60), (
        "Streamlit makes no event loop for each session: delete one_script_loop.py."
    )
