"""Models of the transformers library in memory, and on their way there."""

from concurrent.futures import wait
from pathlib import Path
from threading import Event

import pytest

from model.library.card import Card
from model.library.hub import LoadingError
from model.library.trial import StoppedError
from pages.shared.runs import shelf as module
from pages.shared.runs.shelf import Loaded, LoadJob, Shelf


class Model:
    """Something in place of a model."""


@pytest.fixture
def shelf(monkeypatch):
    """A shelf that makes up what it loads."""
    monkeypatch.setattr(LoadJob, "load", lambda job: Loaded(job.name, Model()))
    return Shelf()


def test_a_model_that_was_asked_for_is_in_memory_under_its_name(shelf):
    assert shelf.get("a") is None
    loaded = shelf.ask("a").result.result(20)
    assert shelf.get("a") is loaded
    assert loaded.name == "a"


def test_a_model_that_is_loaded_again_has_another_number(shelf):
    numbers = [shelf.ask(name).result.result(20).number for name in "aab"]
    assert len(set(numbers)) == 3
    assert shelf.get("a").number == numbers[1]


def test_the_model_that_was_not_used_for_the_longest_makes_room(monkeypatch):
    monkeypatch.setattr(module.limits, "MODELS", 2)
    monkeypatch.setattr(LoadJob, "load", lambda job: Loaded(job.name, Model()))
    shelf = Shelf()
    for name in "ab":
        shelf.ask(name).result.result(20)
    shelf.get("a")
    shelf.ask("c").result.result(20)
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
    wait([job.result for job in jobs], 20)
    assert shelf.ask("one more").result.result(20).name == "one more"


def test_what_failed_can_be_asked_for_again(monkeypatch):
    def fail(job):
        raise LoadingError("no such folder")

    monkeypatch.setattr(LoadJob, "load", fail)
    shelf = Shelf()
    for _ in range(2):
        with pytest.raises(LoadingError, match="no such folder"):
            shelf.ask("a").result.result(20)
    assert shelf.get("a") is None


class Steps:
    """What stands in for the steps of a loading, and notes them."""

    def __init__(self, monkeypatch, trial=lambda **_: None):
        self.taken, self.trial = [], trial
        monkeypatch.setattr(module, "fetch_model", self.fetch)
        monkeypatch.setattr(module, "_trials", self)
        monkeypatch.setattr(module, "load_from_library", self.read)
        monkeypatch.setattr(module, "read_card", lambda name: Card())

    def fetch(self, name, progress):
        self.taken.append(("fetch", name))
        progress(1, 2)
        return Path("/models") / name

    def run(self, name, folder, **how):
        self.taken.append(("try", str(folder)))
        self.trial(**how)

    def read(self, folder):
        self.taken.append(("read", folder))
        return Model()


def test_a_model_is_tried_before_it_is_read_from_the_same_folder(monkeypatch):
    steps = Steps(monkeypatch)
    loaded = Shelf().ask("a").result.result(20)
    assert steps.taken == [("fetch", "a"), ("try", "/models/a"), ("read", "/models/a")]
    assert loaded.reader.title == "a"


def test_what_is_refused_in_its_trial_is_not_read(monkeypatch):
    def refuse(**_):
        raise LoadingError("It broke down.")

    steps, shelf = Steps(monkeypatch, refuse), Shelf()
    with pytest.raises(LoadingError, match="It broke down"):
        shelf.ask("a").result.result(20)
    assert not any(step == "read" for step, _ in steps.taken)
    assert shelf.get("a") is None


def test_a_trial_for_which_nobody_waits_is_stopped_and_the_next_one_has_its_turn(monkeypatch):
    begun = Event()

    def go_on(is_stopped, **_):
        begun.set()
        while not is_stopped():
            Event().wait(0.01)
        raise StoppedError

    steps, shelf, visitor, other = Steps(monkeypatch, go_on), Shelf(), Model(), Model()
    first = shelf.ask("a", visitor)
    assert begun.wait(20)
    assert first.stage == "trial"
    second = shelf.ask("b", other)
    while second.before != 1:
        Event().wait(0.01)
    assert second.stage == "line"
    steps.trial = lambda **_: None
    shelf.ask("c", visitor)  # who waits for one model at a time
    with pytest.raises(LoadingError, match="Nobody waited for a any more"):
        first.result.result(20)
    assert second.result.result(20).name == "b"


def test_a_model_stays_as_long_as_a_visitor_lists_it(shelf):
    shelf.ask("a").result.result(20)
    shelf.let_go()
    assert shelf.get("a"), "nobody had it yet"
    first, second = Model(), Model()
    for visitor in (first, second):
        shelf.hold("a", visitor)
    shelf.leave("a", first)
    assert shelf.get("a")
    shelf.leave("a", second)
    assert shelf.get("a") is None
