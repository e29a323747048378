"""The task above a page, and what an address says of it."""

import json
from pathlib import Path

import pytest

from tests.pages.apps import button, open_page

SOLUTIONS = json.loads(Path(__file__).with_name("solutions.json").read_text(encoding="utf-8"))


def words(app):
    return " ".join(each.value for each in (*app.text, *app.markdown, *app.caption))


def test_an_address_opens_a_task_and_its_scene():
    app = open_page("attention", exercises="first_steps.3")
    assert "Exercise 3 of 12" in words(app)
    assert "A pronoun: " in words(app)
    assert app.selectbox(key="layer").value == 0
    assert "Done." not in words(app)
    app.selectbox(key="layer").set_value(3)
    app.selectbox(key="head").set_value(2).run()
    assert "Done." in words(app)
    assert "wanted: over 0.5" in words(app)
    button(app, "Next").click().run()
    assert "Exercise 4 of 12" in words(app)


def test_a_task_on_another_page_begins_with_its_own_layer():
    app = open_page("masks", exercises="first_steps.6")
    assert "Exercise 6 of 12" in words(app)
    assert app.session_state["layer"] == 3
    assert "0.776; wanted: under 0.1" in words(app)


def test_a_link_with_a_scene_keeps_it():
    app = open_page("attention", exercises="first_steps.1", sentence="The encyclopaedia is new.")
    assert "Done." in words(app)


@pytest.mark.parametrize("text", ["first_steps", "first_steps.0", "first_steps.13", "nothing.1"])
def test_an_address_without_such_a_task_says_so(text):
    app = open_page("attention", exercises=text)
    assert "Exercise" not in words(app)
    assert any("Parts of this link" in info.value for info in app.info)
    assert not app.exception


def test_without_a_worksheet_nothing_is_drawn():
    app = open_page("attention")
    assert "Exercise " not in words(app)
