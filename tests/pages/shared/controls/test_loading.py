"""A model of the transformers library is asked for, and the page goes on until it is there."""

import gc
from threading import Event
from types import SimpleNamespace

import pytest

from headlight.model.library.hub import LoadingError
from headlight.model.shape import Shape
from headlight.pages.shared.controls import loading
from headlight.pages.shared.runs import limits
from headlight.pages.shared.runs import shelf as shelves
from headlight.pages.shared.runs.shelf import NONE, Loaded, LoadJob, Shelf, rule
from headlight.pages.shared.state import models
from headlight.pages.shared.state.models import DEFAULT, LIBRARY, Workshop
from tests.pages.apps import address, button, new_app, open_page
from tests.pages.shared.runs.asking import finished

NAME = "some/bert"
KEY = LIBRARY + NAME


class Model(SimpleNamespace):
    """Something in place of a model, which has an encoder."""

    shape = Shape({"encoder": (2, 2)}, 40)


@pytest.fixture
def shelf(monkeypatch):
    """A shelf of the test's own, which makes up what it loads."""
    made = Shelf()
    monkeypatch.setattr(loading, "shelf", lambda: made)
    monkeypatch.setattr(LoadJob, "load", lambda job: Loaded(job.name, Model()))
    return made


@pytest.fixture
def slow(monkeypatch, shelf):
    """What has to be set before anything is loaded, and a click that does not wait for it."""
    go = Event()
    monkeypatch.setattr(loading, "MOMENT", 0.01)
    monkeypatch.setattr(LoadJob, "load", lambda job: go.wait(20) and Loaded(job.name, Model()))
    yield go
    go.set()


def test_what_is_in_memory_is_looked_at_at_once(state, shelf):
    finished(shelf.ask(NAME))
    loading.ask_for(NAME)
    assert models.chosen().key == KEY
    assert KEY in models.choices()
    assert "loading" not in state


def test_what_comes_within_a_moment_is_looked_at_at_once(state, shelf):
    loading.ask_for(NAME)
    assert models.chosen().key == KEY
    assert state.loading is None


def test_the_page_goes_on_with_what_was_there_until_the_model_comes(state, shelf, slow):
    loading.ask_for(NAME)
    assert state.loading.name == NAME
    loading.arrived()
    assert models.chosen().key == DEFAULT
    assert KEY not in models.choices()
    slow.set()
    finished(state.loading)
    loading.arrived()
    assert KEY in models.choices()
    assert models.chosen().key == DEFAULT, "it is listed, and not chosen"
    assert state.loading is None


def test_why_a_model_could_not_be_loaded_is_kept_until_it_was_shown(state, shelf, monkeypatch):
    def fail(job):
        raise LoadingError("There is no such model.")

    monkeypatch.setattr(LoadJob, "load", fail)
    told = {"error": [], "text": []}
    for name, words in told.items():
        monkeypatch.setattr(loading.st, name, words.append)
    loading.ask_for(NAME)
    assert models.chosen().key == DEFAULT
    for _ in range(2):
        loading.progress()
    assert told == {"error": [loading.FAILED], "text": ["There is no such model."]}


def test_a_failure_is_not_listed_when_it_arrives(state, shelf, slow, monkeypatch):
    def fail(job):
        slow.wait(20)
        raise LoadingError("There is no such model.")

    monkeypatch.setattr(LoadJob, "load", fail)
    loading.ask_for(NAME)
    slow.set()
    state.loading.join(20)
    assert state.loading.status == "failed"
    loading.arrived()
    assert KEY not in models.choices()
    loading.settle()
    assert state.loading_failed == "There is no such model."


def test_too_many_at_once_are_refused(state, shelf, slow):
    others = [Workshop() for _ in range(shelves.MOST_WAITING)]
    for number, visitor in enumerate(others):
        shelf.ask(f"model {number}", visitor)
    loading.ask_for("one more")
    assert f"{shelves.MOST_WAITING} models are being loaded" in state.loading_failed
    assert "loading" not in state


def test_a_visitor_waits_for_the_last_model_they_asked_for(state, shelf, slow):
    loading.ask_for("first")
    first = state.loading
    loading.ask_for("second")
    assert first.neglected()
    assert not state.loading.neglected()


def test_a_visitor_who_cancels_waits_no_longer_and_others_go_on(state, shelf, slow):
    other = Workshop()
    loading.ask_for(NAME)
    job = state.loading
    assert shelf.ask(NAME, other) is job
    loading.cancel()
    assert state.loading is None
    assert not job.neglected()
    job.visitors.discard(other)
    assert job.neglected()


def test_what_nobody_has_in_their_list_any_more_is_let_go(state, shelf):
    other = Workshop()
    loading.ask_for(NAME)
    shelf.hold(NAME, other)
    loading.remove(models.chosen())
    assert models.chosen().key == DEFAULT
    assert shelf.get(NAME)
    del other  # has left
    gc.collect()
    shelf.let_go()
    assert shelf.get(NAME) is None


def test_what_is_not_allowed_is_refused_in_one_sentence(state, shelf, monkeypatch, tmp_path):
    monkeypatch.setattr(limits, "MODELS_ALLOWED", ("google-bert/*",))
    said = set()
    for name in (str(tmp_path), str(tmp_path / "none"), "/root", "~root", "some/bert"):
        loading.ask_for(name)
        said.add(state.pop("loading_failed").replace(name, "It"))
    assert said == {f"It cannot be opened. {rule()}"}
    loading.ask_for("google-bert/one")
    assert models.chosen().key == f"{LIBRARY}google-bert/one"


def test_a_model_that_a_link_names_is_listed_once_it_is_in_memory(state, shelf):
    state.model = KEY
    loading.arrived()
    assert KEY not in models.choices()
    finished(shelf.ask(NAME))
    loading.arrived()
    assert KEY in models.choices()


def test_the_bar_says_how_far_it_is(monkeypatch, bert_folder):
    go, real = Event(), LoadJob.load
    monkeypatch.setattr(loading, "MOMENT", 0.01)
    monkeypatch.setattr(LoadJob, "load", lambda job: go.wait(60) and real(job))
    shelves.shelf().loaded.pop(str(bert_folder), None)
    app = open_page("heads", model=LIBRARY + str(bert_folder))
    button(app, "Load it").click().run()
    job = app.session_state["loading"]
    try:
        for done, stage, shown in (
            (0, "begin", 0), (50, "download", 35), (100, "reading", 75),
        ):  # fmt: skip
            job.progress(done, 100)
            job.stage = stage
            app.run()
            (bar,) = app.get("progress")
            assert (bar.proto.value, bar.proto.text) == (shown, loading.STAGES[stage][0])
    finally:
        go.set()
    finished(job)
    app.run()
    assert not app.exception
    assert not app.get("progress")
    assert not [item for item in app.button if item.label == "Cancel"]
    assert address(app)["model"] == LIBRARY + str(bert_folder)
    assert app.text_input(key="sentence").label == "Text"


def test_where_no_model_may_be_opened_none_is_offered(monkeypatch):
    monkeypatch.setattr(limits, "is_shared", lambda: True)
    app = new_app(model=KEY).run()
    assert f"{NAME} is not in memory" in app.text[0].value
    assert [note.value for note in app.info] == [NONE]
    assert not [item for item in app.button if item.label == "Load it"]


def test_a_press_of_cancel_leaves_the_page_as_it_was(monkeypatch, bert_folder):
    go = Event()
    monkeypatch.setattr(loading, "MOMENT", 0.01)
    monkeypatch.setattr(LoadJob, "load", lambda job: go.wait(60) and Loaded(job.name, Model()))
    app = open_page("models")
    app.text_input(key="wanted").set_value(NAME)
    button(app, "Load").click().run()
    job = app.session_state["loading"]
    try:
        button(app, "Cancel").click().run()
        assert not app.exception
        assert not app.get("progress")
        assert job.neglected()
        assert address(app).get("model", DEFAULT) == DEFAULT
    finally:
        go.set()


def test_a_model_that_is_given_up_for_another_is_named(monkeypatch):
    go = Event()
    monkeypatch.setattr(loading, "MOMENT", 0.01)
    monkeypatch.setattr(LoadJob, "load", lambda job: go.wait(60) and Loaded(job.name, Model()))
    app = open_page("models")
    try:
        for name in ("some/first", "some/second"):
            app.text_input(key="wanted").set_value(name)
            button(app, "Load").click().run()
        said = loading.GIVEN_UP.format(name="some/first")
        assert said in [text.value for text in app.text]
        button(app, "Cancel").click().run()
    finally:
        go.set()
