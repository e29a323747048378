"""Drawing a choice: one truth about its value, kept wherever it is not drawn."""

import pytest

from headlight.pages.shared.widgets.choose import nearest
from tests.pages import apps

START = """
import streamlit as st
from headlight.pages.shared.state.choice import counted, number, one_of, switch, text
from headlight.pages.shared.widgets.choose import choose
LAYER = counted("layer", 1, 6, label="Layer")
COLOUR = one_of("colour", {"red": "Red wine", "blue": "Sky"}, label="Colour")
"""


def drawn(script, **state):
    return apps.run_script(START + script, **state)


@pytest.mark.parametrize(
    ("value", "offered", "expected"),
    [
        (2, [0, 1, 2, 3], 2),
        (5, [0, 1, 2], 2),
        (5, [0, 1, "mean", "max"], 1),
        ("mean", [0, 1], 0),
        (1, [3, 4], 3),
        (20, [None, 13, 14], 14),
        (3, [None, 13, 14], None),
        ("green", ["red", "blue"], "red"),
    ],
)
def test_a_value_that_is_not_offered_gives_way_to_the_nearest(value, offered, expected):
    assert nearest(value, offered) == expected


@pytest.mark.parametrize(
    ("choice", "kind"),
    [
        ('one_of("c", {"a": "A", "b": "B"})', "segmented_control"),
        ('switch("c")', "toggle"),
        ('number("c", 2, (1, 8))', "number_input"),
        ('number("c", 0.5, (0.0, 2.0), step=0.1)', "number_input"),
        ('text("c", "words", 9)', "text_input"),
    ],
)
def test_a_choice_has_the_widget_of_its_sort_with_its_default(choice, kind):
    app = drawn(f"st.session_state.same = choose({choice}) == {choice}.default")
    assert app.session_state["same"]
    assert getattr(app, kind)(key="c").key == "c"


def test_a_widget_has_the_bounds_of_its_choice():
    app = drawn('choose(number("n", 2, (1, 8), step=2)); choose(text("t", "words", 9))')
    box = app.number_input(key="n")
    assert (box.min, box.max, box.step) == (1, 8, 2)
    assert app.text_input(key="t").max_chars == 9


def test_options_are_shown_in_words_and_kept_by_key():
    app = drawn("choose(COLOUR); choose(LAYER, range(3))")
    assert app.segmented_control(key="colour").options == ["Red wine", "Sky"]
    assert app.segmented_control(key="layer").options == ["1", "2", "3"]
    app.segmented_control(key="colour").set_value("blue").run()
    assert app.session_state["colour"] == "blue"


def test_a_value_that_the_model_does_not_have_is_changed_before_it_is_drawn():
    app = drawn("st.session_state.got = choose(LAYER, range(3))", layer=5)
    assert app.session_state["got"] == app.segmented_control(key="layer").value == 2
    assert app.session_state["layer"] == 2


def test_a_choice_can_be_put_in_a_callback():
    script = """
from headlight.pages.shared.state.choices import put
st.button("Go", on_click=put, args=[COLOUR, "blue"])
choose(COLOUR)
"""
    app = drawn(script)
    app.button[0].click().run()
    assert app.segmented_control(key="colour").value == "blue"


def test_choices_outlive_pages_and_runs_that_do_not_draw_them():
    script = """
if st.toggle("Draw", True):
    choose(COLOUR)
    st.fragment(lambda: choose(LAYER, range(6)))()
"""
    app = drawn(script)
    app.segmented_control(key="colour").set_value("blue").run()
    app.segmented_control(key="layer").set_value(4).run()
    for value in (False, False, True):
        app.toggle[0].set_value(value).run()
        assert not app.exception
    assert app.segmented_control(key="colour").value == "blue"
    assert app.segmented_control(key="layer").value == 4


def test_a_run_does_not_put_back_what_was_typed_since_it_began():
    app = drawn('choose(number("n", 2, (1, 8))); choose(number("m", 2, (1, 8)))')
    app.number_input(key="n").set_value(5).run()
    assert (app.session_state["n"], app.session_state["m"]) == (5, 2)
    for key in "nm":
        assert not app.number_input(key=key).proto.set_value


def test_what_is_changed_elsewhere_is_put_into_the_box():
    script = """
from headlight.pages.shared.state.choices import put
NUMBER = number("n", 2, (1, 8))
st.button("Go", on_click=put, args=[NUMBER, 7])
choose(NUMBER)
"""
    app = drawn(script)
    app.number_input(key="n").set_value(5).run()
    app.button[0].click().run()
    assert app.number_input(key="n").proto.set_value
    assert app.number_input(key="n").value == 7


def test_a_number_beyond_narrower_bounds_gives_way_to_the_nearest():
    app = drawn('choose(number("n", 4, (0, 256)), max_value=32)', n=200)
    assert app.number_input(key="n").value == 32
    assert app.session_state["n"] == 32
