"""The one door to models: results by value, for one session, and few calls at once."""

import gc
import time
import weakref
from concurrent.futures import Future
from contextlib import nullcontext
from threading import Barrier, Event, Thread

import pytest

from headlight.model.edits import Edits
from headlight.pages.shared.runs import door
from headlight.pages.shared.runs.door import AT_ONCE, Results, Together, model_call
from headlight.pages.shared.runs.run import ModelRun
from tests.pages.sessions import end, session

calls = []


class Answer:
    """Something that can be watched while it is kept."""


@model_call()
def answer(model, text="", edits=Edits(), _report=None):
    """Say something."""
    calls.append((model, text, edits))
    if _report:
        _report(0.5)
    return Answer()


@model_call()
def nested(text):
    return answer("inner", text), answer("inner", text)


@model_call()
def failing(text):
    calls.append(text)
    raise ValueError("There is nothing to read.")


pytestmark = pytest.mark.usefixtures("one_session")


@pytest.fixture(autouse=True)
def no_calls():
    calls.clear()


def test_equal_values_are_asked_once_however_they_are_given():
    first = answer("a", "text", Edits(gates={("cross", 0, 1): 0.5}))
    assert answer(text="text", model="a", edits=Edits(gates={("cross", 0, 1): 0.5})) is first
    plain = answer("a")
    assert answer("a", "") is answer("a", edits=Edits()) is plain
    assert plain is not first
    assert len(calls) == 2


def test_a_run_is_a_key_by_its_values():
    runs = [
        ModelRun("We sing.", edits=Edits(masks={("window", "cross"): (2,)}), model="en-fr")
        for _ in "ab"
    ]
    assert answer("a", runs[0]) is answer("a", runs[1])
    assert answer("a", ModelRun("We sing.", model="en-fr")) is not answer("a", runs[0])


def test_what_begins_with_an_underscore_is_handed_on_and_no_part_of_the_key():
    told = []
    first = answer("a", _report=told.append)
    assert told == [0.5]
    assert answer("a", _report=print) is answer("a") is first


def test_what_is_kept_can_be_had_without_asking_for_it():
    assert answer.kept("a") is None
    assert not calls
    assert answer("a") is answer.kept("a")


def test_of_an_error_nothing_is_kept():
    for _ in range(2):
        with pytest.raises(ValueError, match="nothing to read"):
            failing("x")
    assert calls == ["x", "x"]
    assert failing.kept("x") is None


def test_only_so_many_of_a_kind_are_kept(monkeypatch):
    monkeypatch.setattr(door, "_results", Results(10**9, 10**9, 2))
    for model in "abc":
        answer(model)
    assert [answer.kept(model) is not None for model in "abc"] == [False, True, True]


def test_what_is_larger_than_all_that_may_be_kept_is_returned_all_the_same(monkeypatch):
    monkeypatch.setattr(door, "size_of", lambda value: 10**12)
    assert isinstance(answer("a"), Answer)
    assert answer.kept("a") is None


def test_another_session_finds_nothing_and_the_end_of_one_frees_its_own():
    first = weakref.ref(answer("a"))
    with session("two"):
        assert answer.kept("a") is None
        second = weakref.ref(answer("a"))
    assert first() is not second()
    end("one")
    gc.collect()
    assert first() is None
    assert second() is not None
    end("two")
    gc.collect()
    assert second() is None


def test_all_sessions_together_keep_to_one_budget(monkeypatch):
    monkeypatch.setattr(door, "size_of", lambda value: 4)
    monkeypatch.setattr(door, "_results", Results(10, 10, 4))
    for name in ("one", "two", "three"):
        with session(name):
            answer("a")
    with session("one"):
        assert answer.kept("a") is None
    for name in ("two", "three"):
        with session(name):
            assert answer.kept("a") is not None
        end(name)


def test_the_end_of_a_session_has_the_memory_given_back(monkeypatch):
    told = []
    answer("a")
    monkeypatch.setattr(door, "released", lambda: told.append("now"))
    end("one")
    assert told == ["now"]


def test_a_call_within_a_call_does_not_wait_for_its_own_turn():
    done = []

    def work(name):
        with door._turn():
            done.append(nested(name))

    threads = [Thread(target=work, args=(name,), daemon=True) for name in range(4 * AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(done) == len(threads)


def test_a_call_within_a_call_has_no_words_of_its_own(monkeypatch):
    said = []
    monkeypatch.setattr(door.st, "spinner", lambda words: said.append(words) or nullcontext())
    inner = model_call("Writing …")(lambda text: text)
    assert model_call("Reading …")(lambda text: inner(text))("a") == "a"
    assert said == ["Reading …"]
    assert inner("b") == "b"
    assert said == ["Reading …", "Writing …"]


def test_no_more_than_a_few_run_at_once_and_all_take_their_turn():
    here, most, go = [], [], Event()

    @model_call()
    def slow(number):
        here.append(number)
        most.append(len(here))
        go.wait(20)
        here.remove(number)

    threads = [Thread(target=slow, args=(number,), daemon=True) for number in range(AT_ONCE + 3)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 20
    while len(here) < AT_ONCE and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.2)  # for one that should not begin
    assert len(here) == AT_ONCE
    go.set()
    for thread in threads:
        thread.join(20)
    assert len(most) == AT_ONCE + 3
    assert max(most) == AT_ONCE


def test_what_was_computed_is_found_in_a_millisecond():
    edits = Edits(gates={("cross", layer, head): 0.5 for layer in range(3) for head in range(8)})
    answer("a", "A sentence to read.", edits)
    took = []
    for _ in range(50):
        began = time.perf_counter()
        answer("a", "A sentence to read.", edits)
        took.append(time.perf_counter() - began)
    assert sorted(took)[len(took) // 2] < 1e-3


class Written:
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
    slow = Slow(Written())
    first, second = both(together, slow, waiting)
    assert slow.times == 1
    assert isinstance(first.got, Written)
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
        return Written()

    monkeypatch.setattr(ModelRun, "is_common", not is_own)
    monkeypatch.setattr(door, "_session", object)
    asked = [Asked(lambda: ask(ModelRun("We sing.", model="en-fr"))) for _ in "ab"]
    begun.wait(20)
    assert is_own or waiting.wait(20)
    go.set()
    first, second = (question.join().got for question in asked)
    assert len(calls) == times
    assert (first is second) is not is_own
