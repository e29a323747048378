"""Boxes look up their own value, and find what they would find in a copy of all values."""

import pytest
from streamlit.runtime.state import SessionState
from streamlit.runtime.state.safe_session_state import SafeSessionState

from headlight.pages.streamlit_fixes.one_value import look_up_one_value
from tests.pages import apps

BOXES = """
import streamlit as st

st.selectbox("Box", ["a", "b"], key="box")
st.text_input("Text", key="text")
"""
COPY = SafeSessionState.filtered_state.fget


@pytest.fixture
def plain(monkeypatch):
    """Streamlit's own way, whatever was done before; it is put back at the end."""
    own = property(getattr(COPY, "__wrapped__", COPY))
    monkeypatch.setattr(SafeSessionState, "filtered_state", own)


@pytest.fixture
def copies(monkeypatch, plain):
    """The copies of a whole state that Streamlit makes, as they are made."""
    made, copy = [], SessionState.filtered_state.fget

    def note(state):
        made.append(state)
        return copy(state)

    monkeypatch.setattr(SessionState, "filtered_state", property(note))
    return made


def test_the_values_are_those_of_the_copy(plain):
    state = SafeSessionState(SessionState(), lambda: None)
    state["number"], state["none"] = 1, None
    copy = state.filtered_state
    look_up_one_value()
    values = state.filtered_state
    assert dict(values) == copy == {"number": 1, "none": None}
    assert len(values) == 2
    assert "missing" not in values
    assert values.get("missing") is None


@pytest.mark.parametrize("value", ["b", None])
def test_boxes_show_their_values_without_a_copy(copies, value):
    look_up_one_value()
    app = apps.run_script(BOXES, box=value, text=value)
    assert not copies
    assert app.selectbox(key="box").value == app.text_input(key="text").value == value


def test_streamlit_still_copies_the_state_for_a_box(copies):
    apps.run_script(BOXES)
    assert copies, "Streamlit looks up one value: delete one_value.py."
