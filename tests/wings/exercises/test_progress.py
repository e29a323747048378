"""What a pupil has done: tries, answers, and the text that is handed in."""

import json
from pathlib import Path

import pytest

import headlight.pages.parts.pages  # noqa: F401 - lists the pages
from headlight.pages.shared.runs.shelf import shelf
from headlight.pages.shared.state.page import PAGES
from headlight.wings.exercises import progress as module
from headlight.wings.exercises.goals import Goal
from headlight.wings.exercises.progress import Progress, checksum, verify
from headlight.wings.exercises.scene import scene_from
from headlight.wings.exercises.worksheet import Task, Worksheet, from_link
from tests.pages.sessions import session

SOLUTIONS = json.loads(Path(__file__).with_name("solutions.json").read_text(encoding="utf-8"))
SHEET = from_link("first_steps")


@pytest.fixture
def progress():
    """A pupil who has tried twice and solved the first task, and tried the second one."""
    with session("a pupil"):
        progress = Progress(SHEET, "first_steps")
        for number, sentences in enumerate(
            (
                ["The cat sleeps.", "The cat.", "The cat.", "A cat.", "The encyclopaedia is new."],
                ["The dog sees the cat.", "The dog sees."],
            )
        ):
            progress.number = number
            for sentence in sentences:
                progress.take(scene_from(PAGES["attention"], {"sentence": sentence}))
        yield progress


def test_scenes_that_miss_the_goals_are_counted_once_each(progress):
    assert progress.tries == {0: 3, 1: 1}
    answer = {"page": "attention", "sentence": "The encyclopaedia is new."}
    assert progress.answers == {0: answer}
    assert not progress.is_solved
    progress.number = 0
    assert progress.is_solved


def test_what_is_handed_in_is_measured_again(progress):
    lines = verify(progress.hand_in(), SHEET)
    assert lines[0] == "1. Tokens: done, tries: 3"
    assert lines[1] == "2. Word order: open, tries: 1"
    assert len(lines) == 12


def test_a_text_that_was_changed_or_is_of_another_worksheet_is_refused(progress):
    text = progress.hand_in()
    with pytest.raises(ValueError, match="checksum"):
        verify(text.replace("tries: 3", "tries: 1"), SHEET)
    other = Worksheet("Another", SHEET.tasks[:1])
    with pytest.raises(ValueError, match="another worksheet"):
        verify(text, other)
    for nonsense in ("", "Checksum: ", "Headlight worksheet", "x" * 500_000):
        with pytest.raises(ValueError, match=r"handed in from here|checksum"):
            verify(nonsense, SHEET)


def test_an_answer_made_up_with_its_checksum_is_found_out(progress):
    body = progress.hand_in().rpartition("Checksum: ")[0]
    own = json.dumps(progress.answers[0])
    for answer in ('{"sentence": "The cat sleeps."}', '["x"]', '{"model": "own-1"}'):
        assert own in body
        forged = body.replace(own, answer)
        if answer[0] == "[":
            with pytest.raises(ValueError, match="handed in from here"):
                verify(f"{forged}Checksum: {checksum(forged)}", SHEET)
            continue
        line = verify(f"{forged}Checksum: {checksum(forged)}", SHEET)[0]
        assert "not reached here" in line or "cannot be measured" in line


def handed_in(sheet, answer):
    """What is said of an answer, as JSON, to the only task of a worksheet."""
    with session("a pupil"):
        text = Progress(sheet, "", answers={0: {}}).hand_in()
        body = text.rpartition("Checksum: ")[0]
        body = body.replace("0, {}", f"0, {answer}")
        return verify(f"{body}Checksum: {checksum(body)}", sheet)


def one_task(title, goal, page="attention"):
    return Worksheet("A sheet", (Task(title, "Do it.", page, {}, (goal,)),))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ('{"sentence": "\\ud800"}', "not valid Unicode"),
        ('{"model": "own-1"}', "Its model is not here"),
        ('{"model": "transformers:gpt2"}', "gpt2 is not in memory"),
        ('{"edits": "too-many"}', "cannot be measured here"),
        ('{"a": ' + "9" * 5_000 + "}", "not reached here"),
        ('{"a": ' + "[" * 20_000 + "}", "cannot be read"),
        ('{"pad_to": "' + "9" * 50 + '", "layer": "99", "kind": "x"}', "not reached here"),
        ('{"x": "' + "x" * 300_000 + '"}', "not reached here"),
        ('{"sentence": "a\u2028b", "page": "nowhere"}', "not reached here"),
        ("{}}", "cannot be read"),
    ],
)
def test_an_answer_from_outside_is_a_sentence_and_loads_no_model(answer, said, monkeypatch):
    monkeypatch.setattr(shelf(), "ask", None)
    goal = Goal("choice", "is", "x", {"choice": "sentence"})
    (line,) = handed_in(one_task("A sentence", goal), answer)
    assert said in line
    assert "\n" not in line


def test_an_answer_is_measured_on_the_page_on_which_it_was_found():
    """The page Positions opens without positions: there the model writes another text."""
    sentence = {"sentence": "The dog ate the meat because it was hungry."}
    sheet = one_task("Say it", Goal("text", "has", "parce qu'il avait faim"), "positions")
    with session("a pupil"):
        progress = Progress(sheet, "")
        progress.take(scene_from(PAGES["positions"], sentence))
        assert not progress.is_solved
        progress.take(scene_from(PAGES["attention"], sentence))
        assert progress.is_solved
        assert verify(progress.hand_in(), sheet) == ["1. Say it: done, tries: 0"]


def test_a_title_and_a_sentence_may_look_like_an_answer():
    title = "Say it: done, tries: 3"
    sheet = one_task(title, Goal("tokens", "at least", 3.0))
    answer = json.dumps({"sentence": "It: open, tries: 5, {"})
    assert handed_in(sheet, answer) == [f"1. {title}: done, tries: 0"]


def test_after_a_while_no_further_answer_is_measured(monkeypatch):
    monkeypatch.setattr(module, "LONGEST_CHECK", -1.0)
    (line,) = handed_in(one_task("Say it", Goal("tokens", "over", 1.0)), "{}")
    assert line == "1. Say it: not measured, since the answers before it took too long, tries: 0"


def test_a_training_that_is_handed_in_is_not_repeated():
    goal = Goal("training", "at least", 0.9, {"task": "reverse"})
    sheet = Worksheet("Train", (Task("Reverse", "Train it.", "training", {}, (goal,)),))
    with session("a pupil"):
        progress = Progress(sheet, "", answers={0: {"toy_task": "reverse"}})
        (line,) = verify(progress.hand_in(), sheet)
    assert line == "1. Reverse: done, but a training is not repeated here, tries: 0"


def test_a_tab_gives_back_what_it_has_kept(progress):
    kept = progress.kept()
    again = Progress(SHEET, "first_steps")
    assert again.kept() is None
    again.take_up(kept)
    assert (again.answers, again.tries) == (progress.answers, progress.tries)
    other = Progress(Worksheet("Another", SHEET.tasks[:1]), "")
    other.take_up(kept)
    assert other.answers == {}
    unknown, surrogate = {"99": {}}, {"1": {"sentence": "\ud800"}}
    forged = [json.dumps([SHEET.digest, answers, {}]) for answers in (unknown, surrogate)]
    for nonsense in ("", "1", "[1, 2]", "[" * 5_000, *forged):
        again.take_up(nonsense)
    assert again.answers == progress.answers
