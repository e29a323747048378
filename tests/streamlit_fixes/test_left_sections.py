"""A click in a section of a page that was left draws nothing."""

import pytest
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import ScriptRunner

from headlight.pages.streamlit_fixes.left_sections import ignore_left_sections
from tests.pages import apps

CLICKED = """
import streamlit as st
from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx

st.session_state.setdefault("drawn", 0)

@st.fragment
def section():
    st.session_state.drawn += 1

section()
run = get_script_run_ctx()
there = list(run.shared.new_fragment_ids.snapshot())
clicked = {"left": ["left"], "there": there, "both": ["left", *there]}[st.session_state.clicked]
run.script_requests.request_rerun(
    RerunData(page_script_hash="clicked on", fragment_id_queue=clicked)
)
"""


@pytest.fixture
def shown(monkeypatch):
    """The pages of which the browser was told, in order."""
    pages = []
    monkeypatch.setattr(
        PagesManager, "set_script_intent", lambda manager, page, name: pages.append(page)
    )
    return pages


@pytest.fixture
def fixed(monkeypatch):
    method = ScriptRunner._run_script
    monkeypatch.setattr(ScriptRunner, "_run_script", method)  # put back at the end
    ignore_left_sections()


def test_a_click_in_a_section_that_was_left_shows_no_page(fixed, shown):
    app = apps.run_script(CLICKED, clicked="left")
    assert "clicked on" not in shown
    assert app.session_state["drawn"] == 1


@pytest.mark.parametrize("clicked", ["there", "both"])
def test_a_section_that_is_there_is_drawn_again(fixed, shown, clicked):
    app = apps.run_script(CLICKED, clicked=clicked)
    assert shown[-1] == "clicked on"
    assert app.session_state["drawn"] == 2


def test_streamlit_still_shows_the_page_of_a_section_that_was_left(monkeypatch, shown):
    method = ScriptRunner._run_script
    monkeypatch.setattr(ScriptRunner, "_run_script", getattr(method, "__wrapped__", method))
    apps.run_script(CLICKED, clicked="left")
    assert "clicked on" in shown, "Streamlit ignores sections that were left: delete the fix."
