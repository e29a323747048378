"""Files and links of worksheets: what was written is read, and anything else is refused."""

import base64
import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import headlight.pages.parts.pages  # noqa: F401 - lists the pages
from headlight.wings.exercises.worksheet import (
    LARGEST_FILE,
    MOST_TASKS,
    from_link,
    in_link,
    read,
    ready,
    write,
)

FILE = json.loads(ready()["first_steps"].read_text(encoding="utf-8"))
TASK = FILE["tasks"][0]
HTML = "<img src=x onerror=alert(1)> **bold** $x$"


def with_task(**fields):
    return json.dumps({**FILE, "tasks": [{**TASK, **fields}]}).encode()


def test_a_worksheet_in_a_link_is_the_same():
    worksheet = read(json.dumps({**FILE, "tasks": FILE["tasks"][:3]}).encode())
    assert from_link(in_link(worksheet)) == worksheet
    assert from_link("first_steps") == read(write(from_link("first_steps")).encode())
    assert worksheet.digest != from_link("first_steps").digest


def test_instructions_are_kept_as_they_were_typed():
    (task,) = read(with_task(instruction=HTML)).tasks
    assert task.instruction == HTML


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "cannot be read as JSON"),
        (b"[" * 5_000, "cannot be read as JSON"),
        (b"\xff", "cannot be read as JSON"),
        (b"{}", "headlight_worksheet"),
        (b" " * (LARGEST_FILE + 1), "at most 200 kB"),
        (json.dumps({**FILE, "tasks": []}).encode(), "1 to 60 tasks"),
        (json.dumps({**FILE, "tasks": [TASK] * (MOST_TASKS + 1)}).encode(), "1 to 60 tasks"),
        (json.dumps({**FILE, "author": "x"}).encode(), "author"),
        (with_task(page="nowhere"), "Task 1: there is no page nowhere"),
        (with_task(parameters={"colour": "red"}), "Task 1: the page attention cannot choose colou"),
        (with_task(parameters={"layer": "x"}), "Task 1: the page attention cannot choose layer"),
        (with_task(goals=[]), "Task 1, goals"),
        (with_task(goals=[{**TASK["goals"][0], "measure": "luck"}]), "luck cannot be measured"),
        (with_task(title=""), "Task 1, title"),
        (with_task(title="Two\nlines"), "Task 1, title: it must be one line"),
        (with_task(title="bell\a"), "Task 1, title: it must be one line"),
        (with_task(title="Two\u2028lines"), "Task 1, title: it must be one line"),
        (json.dumps({**FILE, "title": "a\tb"}).encode(), "title: it must be one line"),
        (json.dumps({**FILE, "a\nb": 1}).encode(), "a\ufffdb: "),
        (with_task(**{"a\nb": 1}), "Task 1, a\ufffdb: "),
        (with_task(parameters={"a\nb": "1"}), "Task 1, parameters"),
        (json.dumps({**FILE, "headlight_worksheet": 2}).encode(), "A newer Headlight saved this"),
        (with_task(instruction="x" * 601), "Task 1, instruction"),
        (with_task(points=3), "Task 1, points"),
        (with_task(instruction="\ud800"), "Task 1, instruction"),
    ],
)
def test_what_is_no_worksheet_is_refused_in_a_sentence(data, said):
    with pytest.raises(ValueError, match=said) as error:
        read(data)
    assert "\n" not in str(error.value)
    str(error.value).encode()  # what a browser can be sent


def test_a_title_may_have_any_sign_of_a_line():
    title = "L’« été »\u202f: 🧑‍🏫\u00a0漢"
    assert read(with_task(title=title)).tasks[0].title == title


@given(st.text(max_size=200))
def test_any_text_of_a_link_is_read_or_refused(text):
    try:
        from_link(text)
    except ValueError:
        return
    assert text in ready()


def test_a_bomb_in_a_link_is_refused():
    bomb = base64.urlsafe_b64encode(zlib.compress(b" " * 50_000_000, 9)).decode()
    with pytest.raises(ValueError, match=r"holds no worksheet|at most|JSON"):
        from_link(bomb[:4_000])
