"""The same question, asked by several at the same time."""

import gc
import weakref
from concurrent.futures import Future
from threading import Barrier, Event, Thread

import pytest

from pages.shared.runs import door
from pages.shared.runs.door import model_call
from pages.shared.runs.run import ModelRun
from pages.shared.runs.together import Together


class Answer:
    """Something that can be watched while it is kept."""


class TurnedAway(BaseException):
    """What stops a script whose visitor has turned away."""


class Asked:
    """Someone who asks in a thread of their own: what they got, or what was raised."""

    def __init__(self, ask):
        self.got = self.raised = None
        self.thread = Thread(target=self.run, args=(ask,), daemon=True)
        self.thread.start()

    def run(self, ask):
        try:
            self.got = ask()
        except BaseException as error:
            self.raised = error

    def join(self):
        self.thread.join(20)
        assert not self.thread.is_alive()
        return self


class Slow:
    """A computation that says that it has begun, and ends when it is told to."""

    def __init__(self, *outcomes):
        self.begun, self.go, self.outcomes = Event(), Event(), list(outcomes)
        self.times = 0

    def __call__(self):
        self.times += 1
        outcome = self.outcomes.pop(0)
        self.begun.set()
        assert self.go.wait(20)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


@pytest.fixture
def together():
    return Together()


@pytest.fixture
def waiting(monkeypatch):
    """An event that is set when somebody waits for another's answer."""
    waits, original = Event(), Future.result

    def result(self, timeout=None):
        waits.set()
        return original(self, timeout)

    monkeypatch.setattr(Future, "result", result)
    return waits


def both(together, slow, waiting):
    """One who asks, and another who asks the same before the answer is there."""
    first = Asked(lambda: together.answer("question", slow))
    assert slow.begun.wait(20)
    second = Asked(lambda: together.answer("question", slow))
    assert waiting.wait(20)
    slow.go.set()
    return first.join(), second.join()


def test_it_is_computed_once_and_nothing_is_kept(together, waiting):
    slow = Slow(Answer())
    first, second = both(together, slow, waiting)
    assert slow.times == 1
    assert isinstance(first.got, Answer)
    assert first.got is second.got
    assert len(together) == 0
    kept = weakref.ref(first.got)
    first.got = second.got = None
    gc.collect()
    assert kept() is None


def test_a_failure_reaches_both_and_is_not_kept(together, waiting):
    first, second = both(together, Slow(ValueError("There is nothing to read.")), waiting)
    assert str(first.raised) == str(second.raised) == "There is nothing to read."
    assert together.answer("question", lambda: "an answer") == "an answer"


def test_who_turns_away_does_not_take_the_answer_from_others(together, waiting):
    slow = Slow(TurnedAway(), "an answer")
    first, second = both(together, slow, waiting)
    assert isinstance(first.raised, TurnedAway)
    assert second.got == "an answer"
    assert slow.times == 2
    assert len(together) == 0


def test_other_questions_do_not_wait(together):
    slow = Slow("one")
    first = Asked(lambda: together.answer("question", slow))
    assert slow.begun.wait(20)
    assert together.answer("another", lambda: "two") == "two"
    slow.go.set()
    assert first.join().got == "one"


@pytest.mark.parametrize(("is_own", "times"), [(False, 1), (True, 2)])
def test_two_sessions_share_a_run_of_a_model_that_is_nobodys_own(
    monkeypatch, waiting, is_own, times
):
    calls, begun, go = [], Barrier(times + 1), Event()

    @model_call()
    def ask(run):
        calls.append(run)
        begun.wait(20)
        assert go.wait(20)
        return Answer()

    monkeypatch.setattr(ModelRun, "is_common", not is_own)
    monkeypatch.setattr(door, "session_results", lambda: door.Results(10**9, 4))
    asked = [Asked(lambda: ask(ModelRun("We sing.", model="en-fr"))) for _ in "ab"]
    begun.wait(20)
    assert is_own or waiting.wait(20)
    go.set()
    first, second = (one.join().got for one in asked)
    assert len(calls) == times
    assert (first is second) is not is_own
