"""What follows a click is done whole, however soon the next click comes."""

import pytest
from streamlit.runtime.scriptrunner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.exceptions import StopException
from streamlit.runtime.state.safe_session_state import SafeSessionState

from headlight.pages.streamlit_fixes.whole_callbacks import run_callbacks_whole
from tests.pages import apps

BOX = """
import streamlit as st

def take():
    st.session_state.begun = st.session_state.box
    st.session_state.done = st.session_state.begun

st.text_input("Box", key="box", on_change=take)
"""


@pytest.fixture
def whole(monkeypatch):
    method = SafeSessionState.on_script_will_rerun
    monkeypatch.setattr(SafeSessionState, "on_script_will_rerun", method)  # put back at the end
    run_callbacks_whole()


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


def test_the_next_click_still_ends_a_run_before_and_after_its_callbacks(monkeypatch, whole):
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
    assert looks == ["look", "callbacks", "look"]


def test_streamlit_still_ends_a_callback_half_done(monkeypatch):
    method = SafeSessionState.on_script_will_rerun
    plain = getattr(method, "__wrapped__", method)
    monkeypatch.setattr(SafeSessionState, "on_script_will_rerun", plain)
    results = [typed(monkeypatch, chances)["done"] for chances in range(1, 9)]
    assert "" in results, "Streamlit runs callbacks whole: delete whole_callbacks.py."
