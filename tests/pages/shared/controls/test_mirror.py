import time

import pytest
from streamlit.testing.v1 import AppTest

from pages.shared.controls import mirror

PAGE = """
import streamlit as st
from pages.shared.controls.mirror import mirror, moved
if st.button("other"):
    st.session_state.value = 1.0
mirror("fader", st.session_state.get("value", 0.5))
def fade():
    st.session_state.heard = moved("fader")
    if st.session_state.heard:
        st.session_state.value = st.session_state.fader
st.slider("Fader", 0.0, 1.0, key="fader", on_change=fade)
"""


@pytest.fixture
def app():
    return AppTest.from_string(PAGE).run()


def test_a_person_moves_the_widget(app):
    app.slider[0].set_value(0.25).run()
    assert app.session_state["heard"]
    assert app.session_state["value"] == app.slider[0].value == 0.25


def test_the_value_before_comes_late_and_changes_nothing(app):
    app.button[0].click().run()
    assert app.slider[0].value == 1
    app.slider[0].set_value(0.5).run()  # as from a browser that had not yet seen the 1
    assert not app.session_state["heard"]
    assert app.slider[0].value == 1


def test_any_other_value_is_a_persons(app):
    app.button[0].click().run()
    app.slider[0].set_value(0.75).run()
    assert app.session_state["value"] == 0.75


def test_a_while_later_the_value_before_is_a_persons_too(app, monkeypatch):
    app.button[0].click().run()
    now = time.monotonic()
    monkeypatch.setattr(mirror.time, "monotonic", lambda: now + mirror.UNDERWAY + 1)
    app.slider[0].set_value(0.5).run()
    assert app.session_state["value"] == 0.5
