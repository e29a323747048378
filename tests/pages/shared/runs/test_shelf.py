"""Models of the transformers library in memory, and on their way there."""

import gc
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest
import torch

from headlight.model.library.hub import Card, LoadingError
from headlight.pages.shared.runs import shelf as module
from headlight.pages.shared.runs.shelf import Loaded, LoadJob, Shelf
from tests.pages.shared.runs.asking import finished


class Model:
    """Something in place of a model."""


@pytest.fixture
def shelf(monkeypatch):
    """A shelf that makes up what it loads."""
    monkeypatch.setattr(LoadJob, "load", lambda job: Loaded(job.name, Model()))
    return Shelf()


def test_a_model_that_is_loaded_again_has_another_number(shelf):
    numbers = [finished(shelf.ask(name)).number for name in "aab"]
    assert len(set(numbers)) == 3
    assert shelf.get("a").number == numbers[1]


def test_the_model_that_was_not_used_for_the_longest_makes_room(monkeypatch):
    monkeypatch.setattr(module.limits, "MODELS", 2)
    monkeypatch.setattr(LoadJob, "load", lambda job: Loaded(job.name, Model()))
    shelf = Shelf()
    for name in "ab":
        finished(shelf.ask(name))
    shelf.get("a")
    finished(shelf.ask("c"))
    assert [name for name in "abc" if shelf.get(name)] == ["a", "c"]


def test_visitors_who_ask_for_the_same_model_share_the_work_and_too_many_are_refused(monkeypatch):
    go = Event()

    def load(job):
        go.wait(20)
        return Loaded(job.name, Model())

    monkeypatch.setattr(LoadJob, "load", load)
    shelf = Shelf()
    jobs = [shelf.ask(f"model {number}") for number in range(module.MOST_WAITING)]
    assert shelf.ask("model 3") is jobs[3]
    with pytest.raises(LoadingError, match=f"{module.MOST_WAITING} models"):
        shelf.ask("one more")
    go.set()
    for job in jobs:
        finished(job)
    assert finished(shelf.ask("one more")).name == "one more"


def test_what_failed_can_be_asked_for_again(monkeypatch):
    def fail(job):
        raise LoadingError("no such folder")

    monkeypatch.setattr(LoadJob, "load", fail)
    shelf = Shelf()
    for _ in range(2):
        job = shelf.ask("a")
        job.join(20)
        assert (job.status, job.note) == ("failed", "no such folder")
    assert shelf.get("a") is None


@pytest.fixture
def steps(monkeypatch):
    """The steps of a loading, noted as they are taken; `read` is what reads a model."""

    def fetch(name, progress):
        steps.taken.append(("fetch", name))
        progress(1, 2)
        return Path("/models") / name

    def read(folder):
        steps.taken.append(("read", folder))
        return steps.read()

    steps = SimpleNamespace(taken=[], read=Model)
    monkeypatch.setattr(module, "fetch_model", fetch)
    monkeypatch.setattr(module, "load_model", read)
    monkeypatch.setattr(module, "read_card", lambda name: Card())
    return steps


def test_a_model_is_read_from_the_folder_that_it_was_downloaded_to(steps):
    loaded = finished(Shelf().ask("a"))
    assert steps.taken == [("fetch", "a"), ("read", "/models/a")]
    assert loaded.reader.title == "a"


@pytest.mark.parametrize("error", [LoadingError("It is damaged."), MemoryError("It is damaged.")])
def test_whatever_goes_wrong_is_said_and_nothing_is_kept(steps, error):
    def fail():
        raise error

    steps.read, shelf = fail, Shelf()
    job = shelf.ask("a")
    job.join(20)
    assert job.note in ("It is damaged.", "a could not be loaded: It is damaged.")
    assert shelf.get("a") is None


def test_models_are_read_one_at_a_time_and_none_for_which_nobody_waits(steps):
    begun, go = Event(), Event()

    def slow():
        begun.set()
        assert go.wait(20)
        return Model()

    steps.read, shelf, visitor, other = slow, Shelf(), Model(), Model()
    first = shelf.ask("a", other)
    assert begun.wait(20)
    second = shelf.ask("b", visitor)
    while second.before != 1:
        Event().wait(0.01)
    assert (first.stage, second.stage) == ("reading", "line")
    third = shelf.ask("c", visitor)  # who waits for one model at a time
    second.join(20)
    assert second.note == "Loading b was stopped, since nobody waited for it. Load it again."
    go.set()
    assert [finished(job).name for job in (first, third)] == ["a", "c"]
    assert ("read", "/models/b") not in steps.taken


@pytest.fixture
def stuck(steps, monkeypatch):
    """A reading that does not end, until this is set, and is not waited for."""
    go, begun = Event(), Event()

    def hang():
        begun.set()
        go.wait(60)
        return Model()

    steps.read = hang
    monkeypatch.setattr(module, "GRACE", 0.01)
    yield begun
    go.set()
    while module._reading.left:
        Event().wait(0.01)


def test_a_reading_that_does_not_end_is_left_when_its_visitor_goes(stuck, steps):
    shelf, visitor, other = Shelf(), Model(), Model()
    absurd = shelf.ask("absurd", visitor)
    assert stuck.wait(20)
    waiting = shelf.ask("b", other)
    while waiting.before != 1:
        Event().wait(0.01)
    steps.read = Model
    del visitor
    gc.collect()
    assert finished(waiting).name == "b"
    absurd.join(20)
    assert absurd.note == "Loading absurd was stopped, since nobody waited for it. Load it again."
    assert shelf.get("absurd") is None


def test_a_reading_that_takes_too_long_is_left_though_its_visitor_waits(stuck, steps, monkeypatch):
    monkeypatch.setattr(module, "LONGEST", 0.01)
    shelf, visitor, other = Shelf(), Model(), Model()
    absurd = shelf.ask("absurd", visitor)
    absurd.join(20)
    assert absurd.note == "absurd was not read within 0 minutes. Choose another model."
    monkeypatch.setattr(module, "LONGEST", 600)
    steps.read = Model
    assert finished(shelf.ask("b", other)).name == "b"


def test_only_so_many_readings_are_left(stuck):
    shelf = Shelf()
    for number in range(module.MOST_LEFT):
        visitor = Model()
        stuck.clear()
        job = shelf.ask(f"absurd {number}", visitor)
        assert stuck.wait(20)
        del visitor
        gc.collect()
        job.join(20)
    more = shelf.ask("b", shelf)
    more.join(20)
    assert more.note.startswith("No model can be loaded now: 3 models that nobody waits for")


def test_a_reading_ends_at_its_next_call_of_torch_when_its_visitor_goes(steps):
    began, shelf, visitor = Event(), Shelf(), Model()

    def endless():
        while True:
            torch.empty(1)
            began.set()

    steps.read = endless
    job = shelf.ask("endless", visitor)
    assert began.wait(20)
    del visitor
    gc.collect()
    job.join(20)
    assert job.note == "Loading endless was stopped, since nobody waited for it. Load it again."
    assert not module._reading.left


def test_a_model_stays_as_long_as_a_visitor_lists_it(shelf):
    finished(shelf.ask("a"))
    shelf.let_go()
    assert shelf.get("a"), "nobody had it yet"
    first, second = Model(), Model()
    for visitor in (first, second):
        shelf.hold("a", visitor)
    shelf.leave("a", first)
    assert shelf.get("a")
    shelf.leave("a", second)
    assert shelf.get("a") is None
