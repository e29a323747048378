"""Models are tried in processes of their own, which take nothing along when they end."""

import shutil
import time
from threading import Timer

import psutil
import pytest

from bench.hostile.model_folders import BOMBS, CHATS
from model.library import trial
from model.library.hub import LoadingError
from model.library.trial import StoppedError, Trials

HOW = {"longest": 4_000, "seconds": 120}


@pytest.fixture
def trials(monkeypatch):
    """Trials of which none is left running; `started` are their processes."""
    made, real = Trials(), trial.start
    made.started = []

    def start():
        made.started.append(real())
        return made.started[-1]

    monkeypatch.setattr(trial, "start", start)
    yield made
    for process in made.started:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def good(make_bert_folder):
    return make_bert_folder()


@pytest.fixture
def endless(transformers_folders, tmp_path):
    """A model whose chat template does not end."""
    folder = shutil.copytree(transformers_folders["GPT-2"], tmp_path / "endless")
    CHATS["chat without end"](folder)
    return folder


def test_a_good_model_passes_in_the_process_that_is_ready(trials, good):
    trials.get_ready()
    trials.get_ready()
    (ready,) = trials.started
    trials.run("some/bert", good, **HOW)
    assert trials.started == [ready]
    assert ready.poll() is not None
    trials.run("some/bert", good, **HOW)
    assert len(trials.started) == 2


def test_a_process_that_waited_too_long_is_replaced(trials, good):
    trials.get_ready()
    trials.started[0].kill()
    trials.started[0].wait()
    trials.run("some/bert", good, **HOW)
    assert len(trials.started) == 2


def test_what_breaks_its_process_is_refused_and_takes_nothing_here(trials, good, tmp_path):
    folder = shutil.copytree(good, tmp_path / "model")
    BOMBS["tokenizer that grows"](folder)
    before = psutil.Process().memory_info().rss
    with pytest.raises(LoadingError, match=r"^some/bert broke down where it was tried"):
        trials.run("some/bert", folder, **HOW)
    assert psutil.Process().memory_info().rss - before < 50_000_000
    assert trials.started[0].poll() is not None


def test_a_refusal_does_not_say_where_a_model_is_kept(trials, good, tmp_path):
    folder = shutil.copytree(good, tmp_path / "secret")
    (folder / "model.safetensors").unlink()
    with pytest.raises(LoadingError, match=r"^some/bert has no model\.safetensors"):
        trials.run("some/bert", folder, **HOW)


def test_what_takes_too_long_is_stopped(trials, endless):
    with pytest.raises(LoadingError, match="some/gpt was not ready after 3 seconds"):
        trials.run("some/gpt", endless, longest=100, seconds=3)
    assert trials.started[0].poll() is not None


def test_a_trial_ends_once_nobody_waits_for_it(trials, endless):
    gone = []
    Timer(0.5, lambda: gone.append(True)).start()
    begun = time.monotonic()
    with pytest.raises(StoppedError):
        trials.run("some/gpt", endless, is_stopped=lambda: bool(gone), **HOW)
    assert time.monotonic() - begun < HOW["seconds"]
    assert trials.started[0].poll() is not None
