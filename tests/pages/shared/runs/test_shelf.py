"""Models of the transformers library in memory, and on their way there."""

from concurrent.futures import wait
from threading import Event

import pytest

from model.library.hub import LoadingError
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
