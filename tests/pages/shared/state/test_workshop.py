import gc

from streamlit.testing.v1 import AppTest

from pages.shared.state.workshop import Run, workshops

PAGE = """
import streamlit as st
from pages.shared.state.workshop import come_back, workshop
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


def test_a_session_that_knows_the_key_takes_it_up_again():
    left = session().session_state["workshop"]
    left.run = Run("1. Reverse", None)
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
    gc.collect()
    assert key not in workshops()


ANSWER = """
import streamlit as st
from pages.shared.frame import browser_tab
from pages.shared.state.workshop import workshop
browser_tab.picked = lambda name: st.session_state.answer or workshop().key
browser_tab.address.go_again = lambda asked: st.session_state.update(gone_to=asked)
browser_tab._come_back()
"""


def answered(answer=None, page="Masks", **state):
    app = AppTest.from_string(ANSWER)
    for name, value in {"answer": answer, "page": page, **state}.items():
        app.session_state[name] = value
    app.run()
    assert not app.exception
    return app.session_state


def test_an_answer_goes_again_to_the_address_that_waited_for_it():
    left = session().session_state["workshop"]
    state = answered(left.key, awaited={"model": "own-1"})
    assert state["workshop"] is left
    assert state["gone_to"] == {"model": "own-1"}
    assert "awaited" not in state


def test_the_own_key_after_a_reset_changes_nothing():
    state = answered(awaited={"model": "own-1"})
    assert "gone_to" not in state
    assert "awaited" not in state


def test_what_is_gone_is_told_on_its_page_and_forgotten():
    state = answered("stale", page="Training")
    assert "is gone" in state["toy_refused"]
    assert state["workshop_gone"]
    assert "toy_refused" not in answered("stale")
