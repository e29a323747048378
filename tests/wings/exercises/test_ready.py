"""The shipped tasks: each is solved by its own solution, and not by doing nothing."""

import json
from pathlib import Path

import pytest

import headlight.pages.parts.pages  # noqa: F401 - lists the pages
from headlight.pages.shared.state.page import PAGES
from headlight.wings.exercises.goals import measured
from headlight.wings.exercises.scene import scene_from
from headlight.wings.exercises.worksheet import read, ready, write
from tests.pages.sessions import session

SOLUTIONS = json.loads(Path(__file__).with_name("solutions.json").read_text(encoding="utf-8"))
WORKSHEET = read(ready()["first_steps"].read_bytes())


def results(task, parameters):
    with session("a pupil"):
        scene = scene_from(PAGES[task.page], parameters)
        return [measured(goal, scene) for goal in task.goals]


@pytest.mark.parametrize("task", WORKSHEET.tasks, ids=lambda task: task.title)
def test_a_task_is_solved_by_its_solution_and_not_by_doing_nothing(task):
    before, after = results(task, task.parameters), results(task, SOLUTIONS[task.title])
    assert not all(result.reached for result in before)
    assert all(result.reached for result in after), after
    assert not [result for result in before if "wanted" not in result.words]


def test_there_are_twelve_and_a_file_is_written_as_it_was_read():
    assert len(WORKSHEET.tasks) == len(SOLUTIONS) == 12
    assert read(write(WORKSHEET).encode()) == WORKSHEET
