import gc
import time

from streamlit.testing.v1 import AppTest

from headlight.pages.shared.state import models
from headlight.pages.shared.state.models import Training, is_of_this_server, workshops

PAGE = """
import streamlit as st
from headlight.pages.shared.state.models import come_back, workshop
if "key" in st.query_params:
    st.session_state.found = come_back(st.query_params["key"])
st.session_state.held = workshop()
"""


def session(key=None):
    app = AppTest.from_string(PAGE)
    if key:
        app.query_params["key"] = key
    return app.run()


def test_each_session_has_its_own_and_it_begins_empty():
    first, second = (session().session_state["workshop"] for _ in range(2))
    assert first is not second
    assert first.key != second.key
    assert first.is_empty


def test_a_key_tells_the_server_that_made_it(monkeypatch):
    key = session().session_state["workshop"].key
    assert is_of_this_server(key)
    monkeypatch.setattr(models, "SERVER", "another")  # after a restart
    assert not is_of_this_server(key)


def test_a_session_that_knows_the_key_takes_it_up_again():
    left = session().session_state["workshop"]
    left.training = Training("1. Reverse", None)
    back = session(left.key)
    assert back.session_state["found"]
    assert back.session_state["held"] is left


def test_another_key_leaves_the_own_one_in_place():
    app = session("guessed")
    assert not app.session_state["found"]
    assert app.session_state["held"].is_empty


def test_nothing_is_left_of_it_when_its_session_is_gone():
    app = session()
    key = app.session_state["workshop"].key
    assert key in workshops()
    del app
    deadline = time.monotonic() + 60  # the thread that ran it may still be ending
    while key in workshops():
        gc.collect()
        assert time.monotonic() < deadline
