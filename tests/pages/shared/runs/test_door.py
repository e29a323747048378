"""The one door to models: results by value, for one session, and few calls at once."""

import gc
import time
import weakref
from contextlib import nullcontext
from threading import Barrier, Event

import pytest

from headlight.model.edits import Edits
from headlight.pages.shared.runs import door
from headlight.pages.shared.runs.door import Results, model_call
from headlight.pages.shared.runs.run import ModelRun
from tests.pages.sessions import end, session
from tests.pages.shared.runs.asking import Asked, waiters

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


def test_a_call_within_a_call_has_no_words_of_its_own(monkeypatch):
    said = []
    monkeypatch.setattr(door.st, "spinner", lambda words: said.append(words) or nullcontext())
    inner = model_call("Writing …")(lambda text: text)
    assert model_call("Reading …")(lambda text: inner(text))("a") == "a"
    assert said == ["Reading …"]
    assert inner("b") == "b"
    assert said == ["Reading …", "Writing …"]


def test_what_was_computed_is_found_in_a_millisecond():
    edits = Edits(gates={("cross", layer, head): 0.5 for layer in range(3) for head in range(8)})
    answer("a", "A sentence to read.", edits)
    took = []
    for _ in range(50):
        began = time.perf_counter()
        answer("a", "A sentence to read.", edits)
        took.append(time.perf_counter() - began)
    assert sorted(took)[len(took) // 2] < 1e-3


@pytest.mark.parametrize(("is_own", "times"), [(False, 1), (True, 2)])
def test_two_sessions_share_a_run_of_a_model_that_is_nobodys_own(monkeypatch, is_own, times):
    calls, begun, go = [], Barrier(times + 1), Event()

    @model_call()
    def ask(run):
        calls.append(run)
        begun.wait(20)
        assert go.wait(20)
        return Answer()

    monkeypatch.setattr(ModelRun, "is_common", not is_own)
    monkeypatch.setattr(door, "_session", object)
    with waiters() as waiting:
        asked = [Asked(lambda: ask(ModelRun("We sing.", model="en-fr"))) for _ in "ab"]
        begun.wait(20)
        assert is_own or waiting.acquire(timeout=20)
        go.set()
        first, second = (question.join().got for question in asked)
    assert len(calls) == times
    assert (first is second) is not is_own
