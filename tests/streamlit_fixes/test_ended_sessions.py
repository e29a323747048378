"""What a visitor leaves behind ends in time, without another visitor."""

import gc
import weakref
from types import SimpleNamespace

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.caching.ttl_cache import TTLCache
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.script_data import ScriptData
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from headlight.pages.streamlit_fixes import ended_sessions
from tests.apart import run_apart

KEPT_FOR = 120  # seconds


class Made:
    """Something large that a visitor made."""


class Server:
    """Streamlit's own sessions with a clock that a test moves."""

    def __init__(self):
        self.now = 0
        self.storage = MemorySessionStorage()
        assert self.storage._cache.ttl == KEPT_FOR
        self.storage._cache = TTLCache(128, KEPT_FOR, timer=lambda: self.now)
        self.files = MemoryUploadedFileManager("/upload")
        self.sessions = WebsocketSessionManager(self.storage, self.files, ScriptCache(), None)

    def visit(self):
        """A visitor types something and makes something; return what holds the session."""
        name = self.sessions.connect_session(None, ScriptData("app.py", False), {})
        info = self.sessions.get_active_session_info(name)
        self.files.add_file(name, UploadedFileRec("1", "a.zip", "zip", b"secret"))
        info.session.session_state["sentence"] = "secret"
        info.session.session_state["made"] = Made()
        info.session.session_state.query_params["sentence"] = "secret"
        info.session._client_state.query_string = "sentence=secret"
        info.session._browser_queue.enqueue(ForwardMsg(page_not_found={"page_name": "secret"}))
        return name, info

    def look(self):
        return ended_sessions.end_what_was_left(self.storage)


def test_a_session_that_was_left_is_empty_when_its_time_is_over():
    async def check():
        server = Server()
        name, info = server.visit()
        made = weakref.ref(info.session.session_state["made"])
        assert server.look() == 0
        server.sessions.disconnect_session(name)
        server.now = KEPT_FOR - 1
        server.look()
        assert info.session.session_state["sentence"] == "secret"
        server.now = KEPT_FOR + 1
        assert server.look() == 1
        # Streamlit's own loop may hold on to it until the next visitor comes.
        session = info.session
        assert not session.session_state.filtered_state
        assert not session.session_state.query_params
        assert made() is None
        assert not session._client_state.query_string
        assert session._browser_queue.is_empty()
        assert not server.files.file_storage
        assert server.look() == 0
        seen = weakref.ref(session)
        del session, info
        gc.collect()
        assert seen() is None

    run_apart(check())


def test_one_who_is_there_or_comes_back_keeps_everything():
    async def check():
        server = Server()
        (stays, there), (goes, back) = server.visit(), server.visit()
        server.sessions.disconnect_session(goes)
        server.now = KEPT_FOR - 1
        assert server.sessions.connect_session(None, None, {}, existing_session_id=goes) == goes
        server.now = 2 * KEPT_FOR
        assert server.look() == 0
        for info in (there, back):
            assert info.session.session_state["sentence"] == "secret"
        for name in (stays, goes):
            server.sessions.close_session(name)

    run_apart(check())


def test_the_server_looks_again_and_again_on_its_own_loop(monkeypatch):
    looks, ended = [], []
    monkeypatch.setattr(
        ended_sessions, "end_what_was_left", lambda storage: looks.append(storage) or len(looks) - 1
    )
    later = []
    loop = SimpleNamespace(call_later=lambda *call: later.append(call))
    ended_sessions._look(loop, "storage", lambda: ended.append(True))
    assert (looks, ended) == (["storage"], [])
    ((seconds, function, *arguments),) = later
    assert seconds == ended_sessions.EVERY
    function(*arguments)
    assert (looks, ended) == (["storage"] * 2, [True])
    assert len(later) == 2


def test_without_a_server_there_is_nothing_to_watch():
    ended_sessions.watch(lambda: None)


def test_streamlit_still_keeps_a_session_until_another_visitor_comes():
    async def check():
        server = Server()
        name, info = server.visit()
        server.sessions.disconnect_session(name)
        server.now = KEPT_FOR + 1
        state = info.session.session_state
        assert state["made"], "Streamlit ends sessions by itself: delete ended_sessions.py."
        assert server.look() == 1

    run_apart(check())
