"""A widget shows the value in force, however late the browser's own value comes."""

import pytest
from streamlit.runtime.state.session_state import SessionState

from headlight.pages.streamlit_fixes.late_values import pass_over_late_values
from tests.pages import apps

START = """
import streamlit as st
from headlight.pages.streamlit_fixes.late_values import editor
"""


def drawn(script, **state):
    return apps.run_script(START + script, **state)


CHOOSE = """
from headlight.pages.shared.state.choice import number
from headlight.pages.shared.widgets.choose import choose
choose(number("n", 2, (1, 8)))
"""
LETTERS = """
from headlight.pages.shared.state.choice import one_of, text
from headlight.pages.shared.widgets.choose import choose
from headlight.pages.streamlit_fixes.late_values import step
letter, words = one_of("letter", {each: each for each in "abcd"}), text("words", "", longest=40)
st.session_state.setdefault("letter", "b")
choose(letter, widget=st.selectbox)
choose(words)
st.button("On", on_click=step, args=["letter", 1])
st.button("Back", on_click=step, args=["letter", -1])
st.button("Nothing")
st.button("Write", on_click=lambda: st.session_state.update(words="written"))
"""
TOKENS = """
from headlight.pages.shared.state.choice import counted
from headlight.pages.shared.widgets.choose import choose_token, hear_and
def send():
    st.session_state.token = "1: The"  # the words of an option that is gone
    hear_and("token", str, range(2), False, None)
choose_token(counted("token", 0, 9), ["A", "dog"])
st.button("Send", on_click=send)
"""
PLAIN = """
st.selectbox("Letter", list("abcd"), key="letter")
st.button("On", on_click=lambda: st.session_state.update(letter="d"))
"""
EDITOR = """
def changed(value):
    st.session_state.edit = value
    st.session_state.changes = st.session_state.get("changes", 0) + 1
def put(value):
    st.session_state.edit = value
st.session_state.setdefault("edit", 0.5)
st.button("Undo", on_click=put, args=[0.5])
if st.session_state.get("draw", True):
    editor(st.slider, "Gate", st.session_state.edit, changed, "fader", min_value=0.0, max_value=1.0)
"""


def test_an_editor_shows_the_value_and_tells_what_a_person_gave_it():
    app = drawn(EDITOR)
    assert app.slider(key="fader").value == 0.5
    app.slider(key="fader").set_value(0.2).run()
    assert (app.session_state["edit"], app.session_state["changes"]) == (0.2, 1)
    assert app.slider(key="fader").value == 0.2
    app.run()
    assert app.session_state["changes"] == 1


def test_an_editor_shows_what_was_changed_elsewhere():
    app = drawn(EDITOR)
    app.slider(key="fader").set_value(0.2).run()
    app.button[0].click().run()
    assert app.slider[0].value == 0.5
    assert app.slider[0].key == "fader 1"
    app.slider[0].set_value(0.9).run()
    assert (app.session_state["edit"], app.slider[0].key) == (0.9, "fader 1")


def test_a_late_value_of_the_browser_does_not_undo_a_change_made_elsewhere():
    app = drawn(EDITOR)
    late = app.slider(key="fader").set_value(0.2)
    app.run()
    app.button[0].click().run()  # the browser sends 0.2 for the first slider once more
    assert (app.session_state["edit"], app.session_state["changes"]) == (0.5, 1)
    late.set_value(0.7)
    app.run()
    assert (app.session_state["edit"], app.session_state["changes"]) == (0.5, 1)


def test_an_editor_that_was_not_drawn_for_a_while_shows_the_value_as_it_is():
    app = drawn(EDITOR)
    app.slider(key="fader").set_value(0.2).run()
    app.session_state["draw"] = False
    app.run()
    app.session_state["edit"], app.session_state["draw"] = 0.8, True
    app.run()
    assert app.slider[0].value == 0.8
    assert app.session_state["changes"] == 1


def test_a_browser_that_gets_any_run_as_its_first_begins_with_the_value():
    app = drawn(EDITOR + CHOOSE, n=5)
    for _ in range(2):
        app.run()
        assert list(app.slider(key="fader").proto.default) == [0.5]
        assert app.number_input(key="n").proto.default == 5


def test_a_change_that_was_not_taken_is_not_shown():
    script = EDITOR.replace("st.session_state.edit = value\n    st", "st", 1)
    app = drawn(script)
    app.slider(key="fader").set_value(0.2).run()
    assert app.session_state["changes"] == 1
    assert app.slider[0].value == 0.5


@pytest.fixture
def letters(monkeypatch):
    """An app whose browser has sent the values of all widgets once."""
    call = SessionState._call_callbacks
    monkeypatch.setattr(SessionState, "_call_callbacks", call)  # put back at the end
    pass_over_late_values()
    app = drawn(LETTERS)
    app.button[2].click().run()
    return app


def shown(app):
    """The box of the letter, as the browser gets it."""
    return app.selectbox(key="letter").proto


def test_of_quick_steps_every_one_counts_though_the_browser_sends_its_old_value(letters):
    for button, letter in ((0, "c"), (0, "d"), (0, "d"), (1, "c")):
        letters.selectbox(key="letter").set_value("b")  # what the browser still shows
        letters.button[button].click().run()
        assert letters.session_state["letter"] == letter
        assert shown(letters).raw_value == letter


def test_after_a_choice_by_hand_steps_go_on_from_there(letters):
    letters.button[0].click().run()
    letters.selectbox(key="letter").set_value("a").run()
    letters.button[0].click().run()
    assert letters.session_state["letter"] == "b"


def test_a_late_value_that_comes_with_a_click_is_passed_over_until_the_browser_has_the_new(letters):
    letters.button[0].click().run()
    for _ in range(2):
        letters.selectbox(key="letter").set_value("b")
        letters.button[2].click().run()
        assert letters.session_state["letter"] == "c"
        assert shown(letters).set_value
    letters.button[2].click().run()  # it sends c
    assert not shown(letters).set_value
    letters.selectbox(key="letter").set_value("b")
    letters.button[2].click().run()
    assert letters.session_state["letter"] == "b"


def test_what_was_there_before_can_be_chosen_again(letters):
    letters.button[0].click().run()
    letters.selectbox(key="letter").set_value("b").run()
    assert letters.session_state["letter"] == "b"


def test_a_choice_before_the_answer_is_told_since_the_answer_may_come_after_it(letters):
    letters.button[0].click().run()
    letters.selectbox(key="letter").set_value("a").run()
    assert (shown(letters).set_value, shown(letters).raw_value) == (True, "a")
    letters.button[2].click().run()
    assert not shown(letters).set_value


def test_an_earlier_answer_that_comes_after_a_choice_does_not_replace_it(letters):
    letters.button[0].click().run()
    letters.selectbox(key="letter").set_value("a").run()
    letters.selectbox(key="letter").set_value("c")  # the answer has come, and the visitor clicks
    letters.button[2].click().run()
    assert letters.session_state["letter"] == "a"
    assert (shown(letters).set_value, shown(letters).raw_value) == (True, "a")


def test_what_is_typed_is_not_told_since_the_visitor_may_be_typing_on(letters):
    letters.button[3].click().run()
    letters.text_input(key="words").set_value("typed").run()
    assert letters.session_state["words"] == "typed"
    assert not letters.text_input(key="words").proto.set_value


def test_what_is_typed_is_told_if_the_browser_did_not_have_the_address_of_the_answer(letters):
    letters.button[3].click().run()
    letters.session_state["address"] = {"words": "written"}
    letters.text_input(key="words").set_value("typed").run()
    proto = letters.text_input(key="words").proto
    assert (proto.set_value, proto.value) == (True, "typed")


def test_an_option_of_an_earlier_list_is_refused():
    app = drawn(TOKENS, token=1)
    app.button[0].click().run()
    assert app.session_state["token"] == 1
    proto = app.selectbox(key="token").proto
    assert (proto.set_value, proto.raw_value) == (True, "2: dog")


def test_streamlit_still_puts_back_what_the_browser_had_before_a_change():
    app = drawn(PLAIN)
    app.button[0].click().run()
    assert app.session_state["letter"] == "d"
    app.selectbox(key="letter").set_value("b")  # what a late click of the browser carries
    app.run()
    said = "Streamlit knows a late value from a new one: delete late_values.py."
    assert app.session_state["letter"] == "b", said
