"""What follows a click is done whole, however soon the next click comes."""

from types import SimpleNamespace

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner
from streamlit.runtime.scriptrunner_utils.exceptions import StopException
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests
from streamlit.runtime.state.safe_session_state import SafeSessionState

from headlight.pages.streamlit_fixes import whole_callbacks
from headlight.pages.streamlit_fixes.whole_callbacks import run_callbacks_whole
from tests.pages import apps

BOX = """
import streamlit as st

def take():
    st.session_state.begun = st.session_state.box
    st.session_state.done = st.session_state.begun

st.text_input("Box", key="box", on_change=take)
"""


REPLACED = [
    (SafeSessionState, "on_script_will_rerun"),
    (ScriptRequests, "on_scriptrunner_ready"),
    (AppSession, "request_rerun"),
]


@pytest.fixture
def whole(monkeypatch):
    for owner, name in REPLACED:
        monkeypatch.setattr(owner, name, getattr(owner, name))  # put back at the end
    run_callbacks_whole()


@pytest.fixture
def plain(monkeypatch):
    """Streamlit as it is."""
    for owner, name in REPLACED:
        method = getattr(owner, name)
        monkeypatch.setattr(owner, name, getattr(method, "__wrapped__", method))


def typed(monkeypatch, chances):
    """Type into the box while another click waits, seen at the chance after that many."""
    app = apps.run_script(BOX, done="")
    left = iter(range(chances))

    def look(runner):
        if runner._execing and next(left, None) is None:
            raise StopException

    app.text_input(key="box").set_value("typed")
    with monkeypatch.context() as patch:
        patch.setattr(ScriptRunner, "_maybe_handle_execution_control_request", look)
        app.run()
    return app.session_state


@pytest.mark.parametrize("chances", range(1, 9))
def test_a_callback_is_done_whole_though_the_next_click_ends_the_run(monkeypatch, whole, chances):
    state = typed(monkeypatch, chances)
    assert state["begun"] == state["done"] == "typed"


def test_the_next_click_still_ends_a_run_after_its_callbacks(whole):
    looks = []
    runs = SafeSessionState.__new__(SafeSessionState)

    class State:
        def on_script_will_rerun(self, *_, **__):
            looks.append("callbacks")
            assert runs["key"] == "value"

        def __getitem__(self, key):
            return "value"

    SafeSessionState.__init__(runs, State(), lambda: looks.append("look"))
    runs.on_script_will_rerun(None)
    assert runs["key"] == "value"
    assert looks[looks.index("callbacks") :] == ["callbacks", "look"]


def test_streamlit_still_ends_a_callback_half_done(monkeypatch, plain):
    results = [typed(monkeypatch, chances)["done"] for chances in range(1, 9)]
    assert "" in results, "Streamlit runs callbacks whole: delete whole_callbacks.py."


class Session:
    """A session that has one runner at a time, whose requests are not run."""

    _state = None
    _scriptrunner = None
    _client_state = ClientState()

    def _create_scriptrunner(self, request):
        self._scriptrunner = SimpleNamespace(_requests=ScriptRequests())
        requests = self._scriptrunner._requests
        self._scriptrunner.request_stop = requests.request_stop
        self._scriptrunner.request_rerun = requests.request_rerun
        requests.request_rerun(request)

    def has_fragment(self, fragment):
        return True

    def send(self, fragment="", **values):
        """Have the session run with these values, or one of its sections; its runner's requests."""
        sent = ClientState(fragment_id=fragment)
        for name, value in values.items():
            sent.widget_states.widgets.add(id=name, string_value=value)
        AppSession.request_rerun(self, sent)
        return self._scriptrunner._requests


def begin(requests):
    """Begin a run with the newest request; its values."""
    return values_of(requests.on_scriptrunner_ready().rerun_data)


def values_of(request: RerunData):
    return {widget.id: widget.string_value for widget in request.widget_states.widgets}


@pytest.mark.parametrize("has_begun", [False, True])
def test_a_click_on_a_link_takes_along_what_no_run_has_used(whole, has_begun):
    session = Session()
    typed = session.send(box="typed", other="old")
    if has_begun:
        assert begin(typed) == {"box": "typed", "other": "old"}
    assert begin(session.send(other="new")) == {"box": "typed", "other": "new"}
    assert begin(session.send()) == {"box": "typed", "other": "new"}  # nor has this run used them


def test_values_that_a_run_has_used_are_not_used_again(whole, monkeypatch):
    session = Session()
    requests = session.send(box="typed")
    begin(requests)
    use(monkeypatch, requests)
    assert begin(session.send()) == {}


def test_a_run_whose_values_were_handed_on_does_not_use_them(whole, monkeypatch):
    session = Session()
    requests = session.send(box="typed")
    begin(requests)
    session.send()
    with pytest.raises(StopException):
        use(monkeypatch, requests)


def test_a_section_clicked_on_just_before_a_link_has_its_value_used(whole):
    session = Session()
    begin(session.send())
    session.send(fragment="section", slider="3")
    assert begin(session.send()) == {"slider": "3"}


def test_streamlit_still_loses_a_text_typed_before_a_click_on_a_link(plain):
    session = Session()
    session.send(box="typed")
    lost = begin(session.send()) == {}
    assert lost, "Streamlit hands on unused values: delete that part of whole_callbacks.py."


def use(monkeypatch, requests):
    """Run the callbacks of a run that has begun."""
    context = SimpleNamespace(script_requests=requests)
    monkeypatch.setattr(whole_callbacks, "get_script_run_ctx", lambda: context)
    state = SimpleNamespace(on_script_will_rerun=lambda *_, **__: None)
    SafeSessionState(state, lambda: None).on_script_will_rerun(None)
