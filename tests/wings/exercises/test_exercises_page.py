"""The task above a page, and what an address says of it."""

import json
import re
from pathlib import Path

import pytest

from headlight.wings.exercises.goals import Goal
from headlight.wings.exercises.worksheet import Task, Worksheet, from_link, in_link
from tests.pages.apps import button, go_to, open_page

SOLUTIONS = json.loads(Path(__file__).with_name("solutions.json").read_text(encoding="utf-8"))


SHEET = from_link("first_steps")

WEIGHT_ON_MASKS = Worksheet(
    "Masks",
    (
        Task(
            "A weight",
            "Make it larger.",
            "masks",
            {"mask_kind": "encoder", "sentence": "The dog ate the meat because it was hungry."},
            (Goal("weight", "over", 0.99, {"query": "it", "key": "hungry"}),),
        ),
    ),
)


def words(app):
    return " ".join(each.value for each in (*app.text, *app.markdown, *app.caption))


def ask(app):
    """Open the dialog, with what was typed before it is drawn."""
    button(app, "Exercises").click().run()
    assert not app.exception
    return app


def field(app, label):
    (match,) = (item for item in (*app.text_input, *app.text_area) if item.label == label)
    return match


def test_an_address_opens_a_task_and_its_scene():
    app = open_page("attention", exercises="first_steps.3")
    assert "Exercise 3 of 12" in words(app)
    assert "A pronoun: " in words(app)
    assert app.selectbox(key="layer").value == 0
    assert "Done." not in words(app)
    app.selectbox(key="layer").set_value(3)
    app.selectbox(key="head").set_value(2).run()
    assert "Done." in words(app)
    assert "Exercise 3 of 12, 1 solved" in words(app)
    assert "wanted: over 0.5" in words(app)
    button(app, "Again").click().run()
    assert "Done before." in words(app)
    assert "Done." not in words(app)
    button(app, "Next").click().run()
    assert "Exercise 4 of 12" in words(app)


def test_a_task_on_another_page_begins_with_its_own_layer():
    app = open_page("masks", exercises="first_steps.6")
    assert "Exercise 6 of 12" in words(app)
    assert app.session_state["layer"] == 3
    assert "0.776; wanted: under 0.1" in words(app)


def test_a_head_that_the_page_chooses_is_measured_and_no_try():
    """The page Masks replaces the mean over heads by a single head as it is drawn."""
    app = open_page("masks", exercises=in_link(WEIGHT_ON_MASKS) + ".1")
    assert "Choose a single head" not in words(app)
    assert "The weight from “it” to “hungry”: " in words(app)
    assert app.session_state["exercises_progress"].tries.total() == 0


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


def test_with_the_last_task_the_worksheet_is_done_and_can_be_handed_in_there():
    app = open_page("attention", exercises="first_steps.12")
    progress = app.session_state["exercises_progress"]
    progress.answers = {number: {} for number in range(11)}
    assert not app.run().download_button
    field(app, "English sentence").set_value(SOLUTIONS["Sure of itself"]["sentence"]).run()
    assert "12 solved" in words(app)
    assert "Done. All tasks are solved: “Hand in”" in words(app)
    (save,) = app.download_button
    assert save.label == "Hand in"


def test_a_hint_names_what_stands_on_the_page():
    (task,) = (task for task in SHEET.tasks if task.title == "A neighbour")
    app = open_page("heads")
    there = {*(item.value for item in app.subheader), *(item.label for item in app.toggle)}
    assert {*re.findall("“(.+?)”", task.hint)} <= there


def test_a_task_on_a_page_that_the_lesson_closes_says_so():
    app = open_page("attention", exercises="first_steps.8", workshop="attention")
    assert "Exercise 8 of 12" in words(app)
    assert "The page of this task, Heads, is closed in this lesson." in words(app)
    assert not app.exception


@pytest.mark.parametrize(("lesson", "tabs"), [("", ["Do", "Make", "Check"]), ("attention", [])])
def test_a_class_sees_only_what_it_can_do(lesson, tabs):
    app = ask(open_page("attention", exercises="first_steps.1", workshop=lesson))
    assert [tab.label for tab in app.tabs if tab.label in ("Do", "Make", "Check")] == tabs
    assert button(app, "Close the worksheet")


def test_a_task_is_made_in_steps_and_says_what_it_lacks():
    app = ask(open_page("attention", kind="encoder", layer="1", head="1"))
    lacking = "Still missing: “Begin here”, a title, an instruction, the query, the key."
    assert lacking in words(app)
    assert button(app, "Add the task").disabled
    button(app, "Begin here").click()
    assert "The task begins on Attention." in words(ask(app))
    app = ask(go_to(app, "heads"))
    typed = {"Title": "It", "Instruction": "Look.", "Query": "it", "Key": "hungry"}
    for label, text in typed.items():
        field(app, label).set_value(text)
    ask(app)
    assert "The weight from “it” to “hungry”: 0.095; wanted: under 0" in words(app)
    button(app, "Set another goal too").click()
    (measured,) = (box for box in app.selectbox if box.label == "Measured")
    measured.set_value("role")
    ask(app)
    go_to(app, "attention")
    go_to(app, "heads")
    ask(app)  # the text in the boxes outlasts the dialog
    (measured,) = (box for box in app.selectbox if box.label == "Measured")
    measured.set_value("role")
    ask(app)
    (role,) = (box for box in app.selectbox if box.label == "Role")
    assert "previous" in role.options
    button(app, "Add the task").click()
    ask(app)
    (made,) = app.session_state["exercises_draft"]
    assert isinstance(made, Task)
    assert (made.title, made.page) == ("It", "attention")
    assert [goal.measure for goal in made.goals] == ["weight", "role"]
    assert field(app, "Title").value == ""
    app = ask(go_to(app, "attention"))  # where the form is empty again
    assert "1. It" in words(app)
    assert "Still missing: a title, an instruction, the query, the key." in words(app)


def test_an_open_worksheet_can_be_gone_on_with():
    app = ask(open_page("attention", exercises="first_steps.1"))
    button(app, "Go on with the open worksheet").click()
    assert "12. Sure of itself" in words(ask(app))
