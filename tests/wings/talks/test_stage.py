"""Where a picture is: in its place on the page, or on a slide."""

from streamlit.testing.v1 import AppTest

from tests.pages.apps import below, key_of

SCRIPT = """
import streamlit as st
from headlight.pages.shared.state.showing import place, show_by, showing
from headlight.wings.talks.stage import Stage, clear, staged
show_by(Stage())
def body():
    for name in ("first", "second", "third"):
        with st.container(key=f"room-{name}"), place(name):
            st.text(name)
    st.text("words")
%s
"""
STAGED = """
with staged(["third", "first", "none"]):
    body()
st.session_state.after = "stage" in st.session_state
"""


def texts_in(app, key):
    (block,) = (element for element in below(app.main) if key_of(element) == key)
    return [item.value for item in below(block) if item.type == "text"]


def test_without_a_stage_a_picture_stands_in_its_place():
    app = AppTest.from_string(SCRIPT % "body()").run()
    assert not app.exception
    assert [text.value for text in app.text] == ["first", "second", "third", "words"]
    assert texts_in(app, "room-second") == ["second"]


def test_a_stage_has_its_pictures_in_its_own_order_and_nothing_else():
    app = AppTest.from_string(SCRIPT % STAGED).run()
    assert not app.exception
    assert texts_in(app, "stage") == ["third", "first"]
    assert texts_in(app, "offstage") == ["second", "words"]
    assert app.session_state["after"] is False


def test_a_page_that_fails_or_is_left_leaves_no_stage_behind():
    failing = """
try:
    with staged(["first"]):
        st.session_state.during = "stage" in st.session_state
        raise ValueError
except ValueError:
    body()
"""
    app = AppTest.from_string(SCRIPT % failing).run()
    assert app.session_state["during"]
    assert "stage" not in app.session_state
    assert texts_in(app, "room-first") == ["first"]


def test_a_page_has_none_of_the_places_that_a_slide_cut_short_left_behind():
    slide = """
if "stage" not in st.session_state:
    places = {"first": st.container(key="left")}
    st.session_state.stage = places
clear()
body()
"""
    app = AppTest.from_string(SCRIPT % slide).run()
    assert texts_in(app, "room-first") == ["first"]


def test_what_is_drawn_for_a_file_is_kept():
    keeping = """
from headlight.wings.talks.stage import keeping
is_kept = showing().keeps
st.session_state.before = is_kept("first", int)
with staged(["first"]), keeping() as kept:
    is_kept("first", lambda: 1)
    is_kept("second", lambda: 3)
st.session_state.kept = dict(kept)
st.session_state.after = is_kept("first", int)
"""
    app = AppTest.from_string(SCRIPT % keeping).run()
    assert not app.exception
    assert not app.session_state["before"]
    assert not app.session_state["after"]
    assert app.session_state["kept"] == {"first": 1}
