"""Runs in models of the app and in tiny ones, and what is drawn of them."""

from dataclasses import replace

import pytest

from headlight.model.edits import Edits
from headlight.pages.shared.runs.run import ModelRun, hiding
from headlight.pages.shared.runs.shelf import shelf
from headlight.pages.shared.show import answers, comparison
from headlight.pages.shared.state.models import LIBRARY
from tests.pages.sessions import end, session
from tests.viz.unpacking import split

SENTENCE, TARGET = "I love my cat.", "J'aime mon chat."
CAT = "the cat was playing."


def switched_off(run, kind="decoder", heads=(0, 1)):
    """The run with heads of the first layer removed."""
    return replace(run, edits=Edits(gates={(kind, 0, head): 0.0 for head in heads}))


@pytest.fixture
def visitor():
    """A session that the runs belong to."""
    with session("visitor"):
        yield
    end("visitor")


@pytest.fixture
def run_in(transformers_folders, bert_folder):
    """A function that returns a run in a model: one of the app's own, or a tiny one."""
    folders = {**transformers_folders, "BERT": bert_folder}

    def made(name, sentence=SENTENCE, *, hidden=(), **options):
        if name in folders:
            shelf().ask(str(folders[name])).join()
            name = LIBRARY + str(folders[name])
        return hiding(ModelRun(sentence, model=name, **options), set(hidden))

    return made


@pytest.fixture
def shown(monkeypatch):
    """The header and the bytes of each picture that is drawn, by its key."""
    results = {}

    def show(picture, key, *_, **__):
        results[key] = split(picture.data)

    for module in (answers, comparison):
        monkeypatch.setattr(module, "show", show)
    return results


@pytest.fixture
def said(monkeypatch):
    """What is drawn besides pictures: figures, captions and texts."""
    results = []
    for name in ("metric", "caption", "text", "markdown"):
        monkeypatch.setattr(comparison.st, name, lambda *parts, **_: results.append(parts))
    return results
